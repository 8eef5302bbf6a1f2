import type { Policy } from '../config/policy.ts';
import type { Blocker } from '../gate/refusal.ts';
import type { Readiness } from '../readiness/readiness.ts';
import { open } from '../readiness/state.ts';

/** Whether the gate would allow a pod of these profiles on a node. */
export type Accepts = (profiles: readonly string[], node: string) => boolean;

/**
 * Why the gate would refuse a pod of these profiles on a node; undefined where it would allow the pod. A DaemonSet
 * that does not exist blocks nobody, as at the gate, and neither does a node that is gone.
 */
export type Blockers = (profiles: readonly string[], node: string) => Blocker | undefined;

/** @param now milliseconds since the epoch */
export function blockersBy(policy: Policy, readiness: Readiness, now: number): Blockers {
  const { startupGrace } = policy.gate;
  return (profiles, node) => {
    for (const profile of profiles) {
      for (const daemonSet of policy.profiles.get(profile)?.daemonSets ?? []) {
        const status = readiness.status(daemonSet, node, now, startupGrace);
        if (status !== undefined && !open.has(status.state)) return { node, profile, daemonSet, status };
      }
    }
    return undefined;
  };
}

/** @param now milliseconds since the epoch */
export function acceptsBy(policy: Policy, readiness: Readiness, now: number): Accepts {
  const blockers = blockersBy(policy, readiness, now);
  return (profiles, node) => blockers(profiles, node) === undefined;
}
