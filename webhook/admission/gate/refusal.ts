import type { DaemonSetRef } from '../../config/types.ts';
import { clean } from '../../lib/clean.ts';
import type { ErrorCode } from '../../lib/errors.ts';
import { texts } from '../../lib/limits.ts';
import { bindingsWebhook } from '../../lib/names.ts';
import { isObjectName } from '../../lib/object-names.ts';
import { formatTag, parseTag } from '../../lib/tag.ts';
import { timeText } from '../../lib/time-text.ts';
import type { DaemonSetStatus } from '../../nodes/readiness/state.ts';

/** Why the gate refuses a node: a DaemonSet of the profile is not ready on it, or the proofs of pods speak against it. */
export interface Blocker {
  node: string;
  profile: string;
  /** Undefined if the profile names none. */
  daemonSet: DaemonSetRef | undefined;
  status: DaemonSetStatus;
}

const code: ErrorCode = 'CNI_GATE_NODE_NOT_READY';

/** The fields of the tag of a refusal. */
const keys = ['node', 'profile', 'state'] as const;

/**
 * The text of a refusal: a sentence for people, and the tag that {@link refusedFor} reads. It does not change between
 * attempts while nothing changes on the node, because the scheduler writes each new text into the pod's status.
 */
export function refusalText(blocker: Blocker): string {
  const { node, profile, status } = blocker;
  return `${sentenceOf(blocker)} ${formatTag(code, { node, profile, state: status.state })}`;
}

/** The same for a text that no program reads again, such as a warning: with the error code alone. */
export const notReadyText = (blocker: Blocker): string => `${sentenceOf(blocker)} (${code})`;

/** It says since when the node is not ready, and never for how long. */
function sentenceOf({ node, profile, daemonSet, status }: Blocker): string {
  const { state, pod, reason, since } = status;
  const what = daemonSet === undefined ? 'the network' : `DaemonSet ${daemonSet.namespace}/${daemonSet.name}`;
  const when = since === undefined ? '' : ` since ${timeText(since)}`;
  const where = pod === undefined ? '' : ` (pod ${pod})`;
  return clean(
    `node ${node} is not ready for profile ${profile}: ${what} is ${state} there${when}${where}: ${reason}`,
  );
}

const denied = `"${bindingsWebhook}" denied the request: `;

/** What a refusal says: the node, and why it is not ready, for people. */
export interface Refused {
  node: string;
  why: string;
}

/**
 * Reads a refusal back; undefined where the text contains none. Other writers of conditions can write any text, so a text
 * that is too long is not read, and the name of the node must be valid.
 *
 * @param message of the pod's PodScheduled condition, into which the scheduler writes the answer of the API server
 */
export function refusedFor(message: string): Refused | undefined {
  const start = message.length > texts.annotation ? -1 : message.indexOf(denied);
  if (start === -1) return undefined;
  const tag = parseTag(message.slice(start + denied.length), code, keys);
  return tag !== undefined && isObjectName(tag.fields.node)
    ? { node: tag.fields.node, why: tag.before }
    : undefined;
}
