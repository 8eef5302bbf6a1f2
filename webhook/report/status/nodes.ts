import type { Policy } from '../../config/policy.ts';
import type { DaemonSetRef } from '../../config/types.ts';
import { timeText } from '../../lib/time-text.ts';
import { noneYet } from '../../nodes/readiness/count.ts';
import type { Readiness } from '../../nodes/readiness/readiness.ts';
import { open, type State } from '../../nodes/readiness/state.ts';
import type { DaemonSetSummary, NodeStatus } from './model.ts';
import type { Refine } from './node-proofs.ts';

/** A DaemonSet, and the profiles that name it. */
interface NamedDaemonSet {
  daemonSet: DaemonSetRef;
  profiles: string[];
}

/** Every DaemonSet of the configuration once, by `namespace/name`. */
function daemonSetsOf(policy: Policy): Map<string, NamedDaemonSet> {
  const found = new Map<string, NamedDaemonSet>();
  for (const { name: profile, daemonSets } of policy.profiles.values()) {
    for (const daemonSet of daemonSets) {
      const key = `${daemonSet.namespace}/${daemonSet.name}`;
      const { profiles } = found.get(key) ?? { profiles: [] };
      found.set(key, { daemonSet, profiles: [...profiles, profile] });
    }
  }
  return found;
}

/**
 * The DaemonSets of the configuration that are there or asked for, and their nodes.
 *
 * @param used the profiles that labels ask for
 * @param all nodes that are ready, exempt or unproved as well
 * @param refine what proofs say as well
 * @returns `isReady`: whether no node is closed for a profile that is asked for; `unproved`: the nodes that no pod has
 *   proved for such a profile
 */
export function judgeDaemonSets(
  policy: Policy,
  readiness: Readiness,
  used: ReadonlySet<string>,
  { now, all, refine }: { now: number; all: boolean; refine: Refine },
): { daemonSets: DaemonSetSummary[]; nodes: NodeStatus[]; isReady: boolean; unproved: Set<string> } {
  const nodeNames = [...readiness.nodes()].map(({ name }) => name).toSorted(compare);
  const daemonSets: DaemonSetSummary[] = [];
  const unproved = new Set<string>();
  const nodes: (NodeStatus & { inUse: boolean })[] = [];
  for (const [key, named] of daemonSetsOf(policy)) {
    const { daemonSet } = named;
    const inUse = named.profiles.some((name) => used.has(name));
    const exists = readiness.knows(daemonSet);
    // one that is neither there nor asked for is a profile that this cluster has no use for
    if (!inUse && !exists) continue;
    const counts = noneYet();
    for (const node of nodeNames) {
      const found = readiness.status(daemonSet, node, now, policy.gate.startupGrace);
      if (found === undefined) continue;
      const refined = refine(named.profiles, node, found.state);
      const { state, why } = refined ?? { state: found.state, why: found.reason };
      // the DaemonSet's time is not that of the proofs
      const since = refined === undefined ? textOf(found.since) : null;
      counts[state] += 1;
      if (inUse && state === 'unproved') unproved.add(node);
      if (!all && isHarmless(state)) continue;
      nodes.push({ node, daemonSet: key, state, since, pod: found.pod ?? null, why, inUse });
    }
    daemonSets.push({ ...daemonSet, profiles: named.profiles, inUse, exists, nodes: counts });
  }
  return {
    daemonSets,
    nodes: nodes
      .toSorted(
        (one, other) =>
          rank(one) - rank(other) || compare(one.node, other.node) || compare(one.daemonSet, other.daemonSet),
      )
      .map(({ inUse: _, ...reported }) => reported),
    isReady: nodes.every(({ inUse, state }) => !inUse || isHarmless(state)),
    unproved,
  };
}

/** Whether nothing is wrong: a node that no pod has proved yet waits for the first one, which the gate lets through. */
const isHarmless = (state: State): boolean => open.has(state) || state === 'unproved';

/** States to act on first, those that pass by themselves later, and networks that are not in use last. */
const urgency: readonly State[] = [
  'broken',
  'failing',
  'absent',
  'rebooted',
  'starting',
  'unproved',
  'ready',
  'exempt',
];

const rank = ({ state, inUse }: { state: State; inUse: boolean }): number =>
  urgency.indexOf(state) + (inUse ? 0 : urgency.length);

/** By code units, so that the order is the same everywhere. */
export const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** RFC 3339; null where the time is not known. */
export const textOf = (time: number | undefined): string | null =>
  time === undefined ? null : timeText(time);
