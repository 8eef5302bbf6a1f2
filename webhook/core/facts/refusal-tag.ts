import type { ErrorCode } from '../../lib/errors.ts';
import { texts } from '../../lib/limits.ts';
import { bindingsWebhook } from '../../lib/names.ts';
import { isObjectName } from '../../lib/object-names.ts';

/** The error code of a refusal. */
export const refusalCode: ErrorCode = 'CNI_GATE_NODE_NOT_READY';

/** The tag at the end of a refusal's text, which {@link refusedFor} parses. No value contains a space. */
export const refusalTag = (node: string, profile: string, state: string): string =>
  `(${refusalCode} node=${node} profile=${profile} state=${state})`;

const tag = /^node=([a-z0-9.-]+) profile=[A-Za-z0-9.-]+ state=[a-z]+\)$/;

const denied = `"${bindingsWebhook}" denied the request: `;

export interface Refused {
  node: string;
  why: string;
}

/**
 * Parses the refusal in a pod's condition PodScheduled, which contains the API server's answer to a binding. Users can
 * write any text there, so its length is limited, and the node's name must be valid.
 */
export function refusedFor(message: string): Refused | undefined {
  const start = message.length > texts.annotation ? -1 : message.indexOf(denied);
  if (start === -1) return undefined;
  // the last tag counts, because other components can write text only before ours
  const end = message.lastIndexOf(`(${refusalCode} `);
  const [, node = ''] = tag.exec(message.slice(end + refusalCode.length + 2)) ?? [];
  const why = message.slice(start + denied.length, end).trimEnd();
  return isObjectName(node) ? { node, why } : undefined;
}
