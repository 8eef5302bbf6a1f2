import type { PodEvidence } from '../../core/facts/pod-evidence.ts';
import type { EvidenceView } from '../../core/networks/evidence.ts';
import { repairLimits } from '../../lib/limits.ts';
import { getOrMake } from '../../lib/maps.ts';
import { isOf } from './decide.ts';

/**
 * Finds pods that wait for other pods of their StatefulSet: by default, a StatefulSet creates no pod while a pod with a
 * lower ordinal is not ready.
 */
export function statefulSets(evidence: Pick<EvidenceView, 'ownedBy'>) {
  /** The lowest ordinal of a pod that others wait for; by {@link PodEvidence.owner}. */
  const lowest = new Map<string, number>();
  return {
    /** Whether the pod waits for a pod of the same StatefulSet with a lower ordinal. */
    hasLower: (pod: PodEvidence): boolean => {
      const { owner, controller } = pod;
      if (controller === undefined || !isOf(controller, 'StatefulSet')) return false;
      const least = getOrMake(lowest, owner, () =>
        Math.min(...[...evidence.ownedBy(owner)].filter(delaysOthers).map(ordinalOf)),
      );
      return ordinalOf(pod) > least;
    },
    /** Must be called periodically, because the answers are remembered until then. */
    reset: (): void => lowest.clear(),
  };
}

/**
 * Whether the pod is failed or unready, or will soon have a verdict. A pod that failed in warn mode runs, and one that
 * gets no verdict must not delay the others forever: the StatefulSet may create its pods in parallel.
 */
function delaysOthers({ verdict, warned, unready, at }: PodEvidence): boolean {
  const isNew = verdict === 'waiting' && at !== undefined && Date.now() - at < repairLimits.verdict;
  return isNew || (verdict === 'failed' && !warned) || unready !== undefined;
}

/** The ordinal of a StatefulSet's pod, from the end of its name. */
function ordinalOf({ name }: { name: string }): number {
  const digits = /-(\d{1,15})$/.exec(name)?.[1];
  return digits === undefined ? 0 : Number(digits);
}
