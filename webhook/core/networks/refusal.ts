import { clean } from '../../lib/clean.ts';
import type { ErrorCode } from '../../lib/errors.ts';
import { texts } from '../../lib/limits.ts';
import { bindingsWebhook } from '../../lib/names.ts';
import { isObjectName } from '../../lib/object-names.ts';
import { timeText } from '../../lib/time-text.ts';
import type { DaemonSetRef } from '../profiles/types.ts';
import type { DaemonSetStatus } from './daemon-set-status.ts';

/** Why the gate refuses a node: a DaemonSet of the profile is not ready on it, or the proofs of pods speak against it. */
export interface Blocker {
  node: string;
  profile: string;
  /** Undefined if the profile names none. */
  daemonSet: DaemonSetRef | undefined;
  status: DaemonSetStatus;
}

const code: ErrorCode = 'CNI_GATE_NODE_NOT_READY';

/** The tag of a refusal without its beginning. Each value is a name of Kubernetes or one word. */
const tag = /^node=([a-z0-9.-]+) profile=[A-Za-z0-9.-]+ state=[a-z]+\)$/;

/**
 * The text of a refusal: a sentence for people, and at its end the tag that {@link refusedFor} reads. The text does not
 * change between attempts while nothing changes on the node, because the scheduler writes each new text into the pod's
 * status. The sentence may change from version to version.
 */
export function refusalText(blocker: Blocker): string {
  const { node, profile, status } = blocker;
  return `${sentenceOf(blocker)} (${code} node=${node} profile=${profile} state=${status.state})`;
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
  // the last tag counts: a text of others before it cannot stand for it
  const end = message.lastIndexOf(`(${code} `);
  const [, node = ''] = tag.exec(message.slice(end + code.length + 2)) ?? [];
  const why = message.slice(start + denied.length, end).trimEnd();
  return isObjectName(node) ? { node, why } : undefined;
}
