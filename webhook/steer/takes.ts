import type { Policy } from '../config/policy.ts';
import type { Obstacle } from '../gate/refusal.ts';
import type { Readiness } from '../readiness/readiness.ts';
import { open } from '../readiness/state.ts';
import type { Takes } from './candidates.ts';

/**
 * What keeps pods of some profiles off a node, as the gate would say now; undefined where nothing does. A DaemonSet
 * that does not exist keeps nobody out, as at the gate, and a node that is gone refuses nobody any more.
 */
export type Obstacles = (profiles: readonly string[], node: string) => Obstacle | undefined;

/** @param now milliseconds since the epoch */
export function obstaclesBy(policy: Policy, readiness: Readiness, now: number): Obstacles {
  const { startupGrace } = policy.gate;
  return (profiles, node) => {
    for (const profile of profiles) {
      for (const daemonSet of policy.profiles.get(profile)?.daemonSets ?? []) {
        const standing = readiness.standing(daemonSet, node, now, startupGrace);
        if (standing !== undefined && !open.has(standing.state))
          return { node, profile, daemonSet, standing };
      }
    }
    return undefined;
  };
}

/** Which nodes take which pods. @param now milliseconds since the epoch */
export function takesBy(policy: Policy, readiness: Readiness, now: number): Takes {
  const obstacles = obstaclesBy(policy, readiness, now);
  return (profiles, node) => obstacles(profiles, node) === undefined;
}
