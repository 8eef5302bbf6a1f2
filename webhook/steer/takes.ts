import type { Policy } from '../config/policy.ts';
import type { Readiness } from '../readiness/readiness.ts';
import { open } from '../readiness/state.ts';
import type { Takes } from './candidates.ts';

/**
 * Which nodes take which pods, as the gate would say now. A DaemonSet that does not exist keeps nobody out, as at the
 * gate, and a node that is gone refuses nobody any more.
 *
 * @param now milliseconds since the epoch
 */
export function takesBy(policy: Policy, readiness: Readiness, now: number): Takes {
  const { startupGrace } = policy.gate;
  return (profiles, node) =>
    profiles
      .flatMap((name) => policy.profiles.get(name)?.daemonSets ?? [])
      .every((daemonSet) => {
        const standing = readiness.standing(daemonSet, node, now, startupGrace);
        return standing === undefined || open.has(standing.state);
      });
}
