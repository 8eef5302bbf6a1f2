import type { ErrorCode } from '../../lib/errors.ts';
import { texts } from '../../lib/limits.ts';
import { bindingsWebhook } from '../../lib/names.ts';
import { isObjectName } from '../../lib/object-names.ts';

/** The error code of a refusal. */
export const refusalCode: ErrorCode = 'CNI_GATE_NODE_NOT_READY';

/** The tag at the end of a refusal, which {@link refusedFor} reads. Each value is a name of Kubernetes or one word. */
export const refusalTag = (node: string, profile: string, state: string): string =>
  `(${refusalCode} node=${node} profile=${profile} state=${state})`;

const tag = /^node=([a-z0-9.-]+) profile=[A-Za-z0-9.-]+ state=[a-z]+\)$/;

const denied = `"${bindingsWebhook}" denied the request: `;

export interface Refused {
  node: string;
  why: string;
}

/**
 * Reads a refusal back from the message of a pod's PodScheduled condition, which contains the answer of the API server.
 * Others can write any text there, so it is bounded, and the name of the node must be valid.
 */
export function refusedFor(message: string): Refused | undefined {
  const start = message.length > texts.annotation ? -1 : message.indexOf(denied);
  if (start === -1) return undefined;
  // the last tag counts: a text of others before it cannot stand for it
  const end = message.lastIndexOf(`(${refusalCode} `);
  const [, node = ''] = tag.exec(message.slice(end + refusalCode.length + 2)) ?? [];
  const why = message.slice(start + denied.length, end).trimEnd();
  return isObjectName(node) ? { node, why } : undefined;
}
