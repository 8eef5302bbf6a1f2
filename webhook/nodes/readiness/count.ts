import type { DaemonSetRef } from '../../config/types.ts';
import type { Readiness } from './readiness.ts';
import { type State, states } from './state.ts';

/** The number of nodes in each state. */
export type StateCounts = Record<State, number>;

/**
 * Counts the nodes in each state of a DaemonSet; undefined if there is no such DaemonSet.
 *
 * @param now milliseconds since the epoch
 * @param grace how long a new pod or node may take, in milliseconds
 * @param refine returns the state of a node by other evidence as well
 */
export function countStates(
  readiness: Readiness,
  daemonSet: DaemonSetRef,
  now: number,
  grace: number,
  refine: (node: string, state: State) => State = (_, state) => state,
): StateCounts | undefined {
  if (!readiness.knows(daemonSet)) return undefined;
  const counts = noneYet();
  for (const { name } of readiness.nodes()) {
    const status = readiness.status(daemonSet, name, now, grace);
    if (status !== undefined) counts[refine(name, status.state)] += 1;
  }
  return counts;
}

/** No node in any state. */
export const noneYet = (): StateCounts =>
  Object.fromEntries(states.map((state) => [state, 0])) as StateCounts;
