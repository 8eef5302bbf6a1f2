import { clean } from '../../lib/clean.ts';
import { timeText } from '../../lib/time-text.ts';
import { refusalCode, refusalTag } from '../facts/refusal-tag.ts';
import type { NetworkProblem } from './network-status.ts';

/**
 * The text of a refusal: a sentence, and the tag that `refusedFor` parses. The text stays the same while nothing
 * changes on the node, because each new text makes the scheduler write the pod's status.
 */
export function refusalText(problem: NetworkProblem): string {
  const { node, profile, state } = problem;
  return `${sentenceOf(problem)} ${refusalTag(node, profile, state)}`;
}

/** The sentence with the error code instead of the tag, for texts that no program parses, such as warnings. */
export const notReadyText = (problem: NetworkProblem): string => `${sentenceOf(problem)} (${refusalCode})`;

function sentenceOf({ node, profile, daemonSet, state, pod, reason, since }: NetworkProblem): string {
  const what = daemonSet === undefined ? 'the network' : `DaemonSet ${daemonSet.namespace}/${daemonSet.name}`;
  const when = since === undefined ? '' : ` since ${timeText(since)}`;
  const where = pod === undefined ? '' : ` (pod ${pod})`;
  return clean(
    `node ${node} is not ready for profile ${profile}: ${what} is ${state} there${when}${where}: ${reason}`,
  );
}
