import type { DaemonSetRef } from '../config/types.ts';
import { clean } from '../lib/clean.ts';
import type { ErrorCode } from '../lib/errors.ts';
import { texts } from '../lib/limits.ts';
import { bindingsWebhook } from '../lib/names.ts';
import { isObjectName } from '../lib/object-names.ts';
import { timeText } from '../lib/time-text.ts';
import type { DaemonSetStatus } from '../readiness/state.ts';

/** Why the gate refuses a node: a DaemonSet of the profile is not ready on it, or the proofs of pods speak against it. */
export interface Blocker {
  node: string;
  profile: string;
  /** Undefined if the profile names none. */
  daemonSet: DaemonSetRef | undefined;
  status: DaemonSetStatus;
}

const code: ErrorCode = 'CNI_GATE_NODE_NOT_READY';

/**
 * The text of a refusal. It does not change between attempts while nothing changes on the node, because the scheduler
 * writes each new text into the pod's status. So it says since when the node is not ready, and never for how long.
 */
export function refusalText({ node, profile, daemonSet, status }: Blocker): string {
  const { state, pod, reason, since } = status;
  const what = daemonSet === undefined ? 'the network' : `DaemonSet ${daemonSet.namespace}/${daemonSet.name}`;
  const who = `${what} is ${state} there`;
  const when = since === undefined ? '' : ` since ${timeText(since)}`;
  const where = pod === undefined ? '' : ` (pod ${pod})`;
  return clean(
    `node ${node} is not ready for profile ${profile}: ${who}${when}${where}: ${reason} (${code})`,
  );
}

const ours = new RegExp(
  `"${bindingsWebhook.replaceAll('.', '\\.')}" denied the request: node (\\S+) is not ready(?: for profile \\S+: (.*) \\(${code}\\))?`,
);

/** What a text of {@link refusalText} says: the node, and why it is not ready; empty where the text is cut off. */
export interface Refused {
  node: string;
  why: string;
}

/**
 * Reads a refusal back; undefined where the text contains none. Other writers of conditions can write any text, so only
 * the start of a long text is read, and the name of the node must be valid.
 *
 * @param message of the pod's PodScheduled condition, into which the scheduler writes the answer of the API server
 */
export function refusedFor(message: string): Refused | undefined {
  const head = message.slice(0, texts.condition);
  const [, node, why = ''] = (head.includes(code) && ours.exec(head)) || [];
  return node !== undefined && isObjectName(node) ? { node, why } : undefined;
}

/** The node alone of {@link refusedFor}. */
export const refusedNode = (message: string): string | undefined => refusedFor(message)?.node;
