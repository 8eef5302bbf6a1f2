/** The thread that reads large bodies: see `large-bodies.ts`. */
import { parentPort } from 'node:worker_threads';
import { Policy } from '../core/profiles/policy.ts';
import type { Configuration } from '../core/profiles/types.ts';
import { CniGateError } from '../lib/errors.ts';
import { serverLimits } from '../lib/limits.ts';
import {
  type NamespaceAnswer,
  type PlainError,
  type Reading,
  readReview,
  type WebhookName,
} from './read-review.ts';

export interface Job {
  webhook: WebhookName;
  /** JSON in UTF-8. */
  text: Uint8Array;
  configuration: Configuration;
  ownNamespace: string | undefined;
  /** What is known about the request's namespace; absent when the body is read for the first time. */
  namespace?: NamespaceAnswer | undefined;
}

export type JobResult = { reading: Reading } | PlainError;

parentPort?.on('message', async (job: Job) => parentPort?.postMessage(await resultOf(job)));

async function resultOf({ webhook, text, configuration, ownNamespace, namespace }: Job): Promise<JobResult> {
  try {
    const body = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
    if (partsIn(body.toString('latin1')) > serverLimits.largeBodyParts) throw tooManyParts();
    const policy = new Policy(configuration);
    return { reading: await readReview(webhook, body, { policy, ownNamespace, namespace: () => namespace }) };
  } catch (error) {
    if (!(error instanceof CniGateError)) throw error;
    return { code: error.code, message: error.message };
  }
}

/**
 * An upper bound on the number of lists, objects and strings in a JSON text. V8 takes up to 330 bytes and 3 µs for
 * each of them. Brackets within strings are counted as well.
 */
function partsIn(text: string): number {
  let count = 0;
  for (const [character, parts] of Object.entries({ '{': 1, '[': 1, '"': 0.5 })) {
    for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) count += parts;
  }
  return count;
}

const tooManyParts = (): CniGateError =>
  new CniGateError(
    'CNI_GATE_REVIEW_TOO_LARGE',
    `expected at most ${serverLimits.largeBodyParts} lists, objects and strings in the body, got more; no object of Kubernetes has so many`,
  );
