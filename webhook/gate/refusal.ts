import type { DaemonSetRef } from '../config/types.ts';
import { clean } from '../lib/clean.ts';
import type { ErrorCode } from '../lib/errors.ts';
import { texts } from '../lib/limits.ts';
import { bindingsWebhook } from '../lib/names.ts';
import { isObjectName } from '../lib/object-names.ts';
import { timeText } from '../lib/time-text.ts';
import type { DaemonSetStatus } from '../readiness/state.ts';

/** Why a node does not get a pod: a DaemonSet of a profile is not ready there. */
export interface Blocker {
  node: string;
  profile: string;
  daemonSet: DaemonSetRef;
  status: DaemonSetStatus;
}

const code: ErrorCode = 'CNI_GATE_NODE_NOT_READY';

/**
 * The text of a refusal. It is the same from try to try, as long as nothing changes on the node: each new text would
 * be a write of the pod's status. So it tells since when, and never for how long.
 */
export function refusalText({ node, profile, daemonSet, status }: Blocker): string {
  const { state, pod, reason, since } = status;
  const who = `DaemonSet ${daemonSet.namespace}/${daemonSet.name} is ${state} there`;
  const when = since === undefined ? '' : ` since ${timeText(since)}`;
  const where = pod === undefined ? '' : ` (pod ${pod})`;
  return clean(
    `node ${node} is not ready for profile ${profile}: ${who}${when}${where}: ${reason} (${code})`,
  );
}

const ours = new RegExp(
  `"${bindingsWebhook.replaceAll('.', '\\.')}" denied the request: node (\\S+) is not ready(?: for profile \\S+: (.*) \\(${code}\\))?`,
);

/** What a text that {@link refusalText} made tells: the node, and what of it is not ready; empty where that is cut off. */
export interface Refused {
  node: string;
  why: string;
}

/**
 * What a pod was refused for, or undefined where the text is no refusal of ours. Who may write conditions may write
 * anything: only the begin of a long text is read, and a node that has no node's name is none.
 *
 * @param message of the pod's PodScheduled condition, in which the scheduler tells what the API server answered
 */
export function refusedFor(message: string): Refused | undefined {
  const head = message.slice(0, texts.condition);
  const [, node, why = ''] = (head.includes(code) && ours.exec(head)) || [];
  return node !== undefined && isObjectName(node) ? { node, why } : undefined;
}

/** The node alone of {@link refusedFor}. */
export const refusedNode = (message: string): string | undefined => refusedFor(message)?.node;
