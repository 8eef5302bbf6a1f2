import type { Policy } from '../config/policy.ts';
import type { DaemonSetRef } from '../config/types.ts';
import { CniGateError } from '../lib/errors.ts';
import { timeText } from '../lib/time-text.ts';
import { noneYet } from '../readiness/count.ts';
import { open, type State } from '../readiness/state.ts';
import type { StatusFacts } from './facts.ts';
import type { DaemonSetSummary, Fault, NodeStatus, Status } from './model.ts';
import type { Refine } from './node-proofs.ts';

/** A namespace that opted in. */
export type OptedIn = Pick<Status['namespaces'][number], 'name' | 'profile'>;

/** The profiles that labels of namespaces and pods ask for, and what is wrong with those labels. */
export function profilesInUse(
  policy: Policy,
  namespaces: Iterable<OptedIn>,
  ofPods: ReadonlySet<string>,
): { profiles: Set<string>; faults: Fault[] } {
  const profiles = new Set<string>();
  const faults: Fault[] = [];
  const use = (label: string): void => {
    for (const { name } of policy.join(label).profiles) profiles.add(name);
  };
  for (const { name, profile } of namespaces) {
    try {
      use(profile);
    } catch (error) {
      if (!(error instanceof CniGateError)) throw error;
      faults.push({ code: error.code, message: `namespace ${name}: ${error.message}` });
    }
  }
  for (const label of ofPods) {
    try {
      use(label);
    } catch (error) {
      // a pod that asks for what there is not was refused, or the configuration has changed since: no fault of now
      if (!(error instanceof CniGateError)) throw error;
    }
  }
  return { profiles, faults };
}

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
 * @returns `missing`: a fault for each that is asked for and does not exist; `ready`: whether no node is closed for a
 *   profile that is asked for; `unproved`: the nodes that no pod has proved for such a profile
 */
export function judgeDaemonSets(
  { policy, readiness }: Pick<StatusFacts, 'policy' | 'readiness'>,
  used: ReadonlySet<string>,
  { now, all, refine = () => undefined }: { now: number; all: boolean; refine?: Refine },
): {
  daemonSets: DaemonSetSummary[];
  nodes: NodeStatus[];
  missing: Fault[];
  ready: boolean;
  unproved: Set<string>;
} {
  const nodeNames = [...readiness.nodes()].map(({ name }) => name).toSorted(compare);
  const daemonSets: DaemonSetSummary[] = [];
  const missing: Fault[] = [];
  const unproved = new Set<string>();
  const nodes: (NodeStatus & { inUse: boolean })[] = [];
  for (const [key, named] of daemonSetsOf(policy)) {
    const { daemonSet } = named;
    const inUse = named.profiles.some((name) => used.has(name));
    const exists = readiness.knows(daemonSet);
    // one that is neither there nor asked for is a profile that this cluster has no use for
    if (!inUse && !exists) continue;
    if (!exists) missing.push(missingFault(key, named, used));
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
    missing,
    ready: nodes.every(({ inUse, state }) => !inUse || isHarmless(state)),
    unproved,
  };
}

/** Whether nothing is wrong: a node that no pod has proved yet waits for the first one, which the gate lets through. */
export const isHarmless = (state: State): boolean => open.has(state) || state === 'unproved';

function missingFault(key: string, { profiles }: NamedDaemonSet, used: ReadonlySet<string>): Fault {
  const asking = profiles.filter((name) => used.has(name)).join(', ');
  const message = `DaemonSet ${key} of profile ${asking} does not exist: nothing is held back for it`;
  return { code: 'CNI_GATE_DAEMONSET_UNKNOWN', message };
}

/** What asks for somebody first, what only takes its time later, and what nobody asks for last. */
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
