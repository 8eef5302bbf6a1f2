import type { Policy } from '../config/policy.ts';
import { type EvidenceView, noEvidence } from '../evidence/evidence.ts';
import { blockedBy } from '../gate/blocked.ts';
import type { Blocker } from '../gate/refusal.ts';
import type { Readiness } from '../readiness/readiness.ts';

/** Whether the gate would allow a pod of these profiles on a node. */
export type Accepts = (profiles: readonly string[], node: string) => boolean;

/**
 * Why the gate would refuse a pod of these profiles on a node; undefined where it would allow the pod. A DaemonSet
 * that does not exist blocks nobody, as at the gate, and neither does a node that is gone.
 */
export type Blockers = (profiles: readonly string[], node: string) => Blocker | undefined;

/** @param now milliseconds since the epoch */
export function blockersBy(
  policy: Policy,
  readiness: Readiness,
  now: number,
  evidence: EvidenceView = noEvidence,
): Blockers {
  return (profiles, node) => {
    for (const name of profiles) {
      const profile = policy.profiles.get(name);
      if (profile === undefined) continue;
      const { blocker } = blockedBy(profile, node, { readiness, evidence }, policy, { now });
      if (blocker !== undefined) return blocker;
    }
    return undefined;
  };
}

/** @param now milliseconds since the epoch */
export function acceptsBy(
  policy: Policy,
  readiness: Readiness,
  now: number,
  evidence?: EvidenceView,
): Accepts {
  const blockers = blockersBy(policy, readiness, now, evidence);
  return (profiles, node) => blockers(profiles, node) === undefined;
}

/**
 * Whether the gate lets one pod of these profiles through to a node, to find out whether the network works there.
 *
 * @param now milliseconds since the epoch
 */
export function trialsBy(policy: Policy, readiness: Readiness, now: number, evidence: EvidenceView): Accepts {
  return (profiles, node) =>
    profiles.some((name) => {
      const profile = policy.profiles.get(name);
      return (
        profile !== undefined &&
        blockedBy(profile, node, { readiness, evidence }, policy, { now }).trial !== undefined
      );
    });
}
