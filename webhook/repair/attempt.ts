import type { PodEvidence } from '../evidence/facts.ts';
import type { Recreation } from './types.ts';

/** A recreation whose verdict is not known yet. */
export interface Attempt {
  recreation: Recreation;
  /** When it was made: milliseconds of a monotonic clock. */
  at: number;
  /** Whether the verdict takes so long that nobody waits for it. */
  late: boolean;
}

/** What became of a recreation: the verdict of the pod that replaced it. `unknown`: none came, or it says nothing. */
export type Outcome = 'passed' | 'failed' | 'unknown';

/** A recreation whose outcome is known. */
export interface Ended {
  recreation: Recreation;
  outcome: Outcome;
  /** The pod that replaced it; undefined where none was seen. */
  successor: PodEvidence | undefined;
}

/** Removes and returns the attempt that this new pod replaces: of the same name, else of the same node, else the oldest. */
export function takeReplaced(attempts: Attempt[], { name, node }: PodEvidence): Attempt | undefined {
  const indexOf = (is: (pod: PodEvidence) => boolean): number =>
    attempts.findIndex(({ recreation: { pod } }) => is(pod));
  const [sameName, sameNode] = [indexOf((pod) => pod.name === name), indexOf((pod) => pod.node === node)];
  const index = sameName >= 0 ? sameName : Math.max(sameNode, 0);
  return attempts.splice(index, 1)[0];
}

/** The outcome that a verdict means; undefined where it has to be waited for. */
export function outcomeOf({ verdict }: PodEvidence): Outcome | undefined {
  if (verdict === 'waiting') return undefined;
  return verdict === 'passed' || verdict === 'failed' ? verdict : 'unknown';
}
