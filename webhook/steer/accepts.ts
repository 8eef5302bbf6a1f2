import type { Policy } from '../config/policy.ts';
import type { Blocker } from '../gate/refusal.ts';
import type { Readiness } from '../readiness/readiness.ts';
import { open } from '../readiness/state.ts';
import type { Accepts } from './candidates.ts';

/**
 * What keeps pods of some profiles off a node, as the gate would say now; undefined where nothing does. A DaemonSet
 * that does not exist keeps nobody out, as at the gate, and a node that is gone refuses nobody any more.
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

/** Which nodes take which pods. @param now milliseconds since the epoch */
export function acceptsBy(policy: Policy, readiness: Readiness, now: number): Accepts {
  const blockers = blockersBy(policy, readiness, now);
  return (profiles, node) => blockers(profiles, node) === undefined;
}
