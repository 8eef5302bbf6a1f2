import type { NodeFacts } from '../readiness/facts.ts';
import type { Takes } from './candidates.ts';
import { misfitOf } from './misfit.ts';
import type { Nomination } from './plan.ts';
import type { WaitingPod } from './waiting.ts';

/** What is known when a nomination is about to be written. */
export interface Latest {
  /** The pod as it waits now; undefined where it does not. */
  pod: WaitingPod | undefined;
  /** The node that it is to be nominated for; undefined where that is gone. */
  node: NodeFacts | undefined;
  takes: Takes;
}

/**
 * Whether a nomination must not be written any more, because the pod, its node or its refused node changed since the
 * plan was made.
 */
export function isOutdated({ pod }: Pick<Nomination, 'pod'>, { pod: seen, node, takes }: Latest): boolean {
  if (seen === undefined || seen.version !== pod.version || seen.refused === undefined) return true;
  if (node === undefined || !takes(seen.profiles, node.name)) return true;
  return misfitOf(seen, node) !== undefined || takes(seen.profiles, seen.refused);
}
