import type { NodeFacts } from '../readiness/facts.ts';
import type { Accepts } from './candidates.ts';
import { misfitOf } from './misfit.ts';
import type { PendingPod } from './pending-pod.ts';
import type { Nomination } from './plan.ts';

/** What is known when a nomination is about to be written. */
export interface Latest {
  /** The pod as it waits now; undefined where it does not. */
  pod: PendingPod | undefined;
  /** The node that it is to be nominated for; undefined where that is gone. */
  node: NodeFacts | undefined;
  accepts: Accepts;
}

/**
 * Whether a nomination must not be written any more, because the pod, its node or its refused node changed since the
 * plan was made.
 */
export function isOutdated({ pod }: Pick<Nomination, 'pod'>, { pod: seen, node, accepts }: Latest): boolean {
  if (seen === undefined || seen.version !== pod.version || seen.refused === undefined) return true;
  if (node === undefined || !accepts(seen.profiles, node.name)) return true;
  return misfitOf(seen, node) !== undefined || accepts(seen.profiles, seen.refused);
}
