import type { Agent, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { http } from '../lib/node-http.ts';

export interface Call {
  method: string;
  headers: Record<string, string>;
  body?: string | undefined;
  agent: Agent;
  /** How many milliseconds the head of the answer may take. */
  timeout: number;
  signal?: AbortSignal | undefined;
  /**
   * Returns the agent for a second attempt, in case the server has closed the reused connection. Set only for requests
   * that change nothing, as in Go's `shouldRetryRequest` (net/http).
   */
  renew?: (() => Agent) | undefined;
}

/** The peer is silent: nothing arrived within the timeout, or a watch did not end. */
export class Silence extends Error {}

const silence = (timeout: number): Silence => new Silence(`no byte for ${timeout} ms`);

export class TooLarge extends Error {}

/** Resolves with the head of the answer. The caller has to read or destroy the body. */
export function exchange(url: URL, call: Call): Promise<IncomingMessage> {
  const { method, headers, body, agent, timeout, signal, renew } = call;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const open = url.protocol === 'https:' ? httpsRequest : http.request;
  const request = open(url, { method, headers, agent, ...(signal !== undefined && { signal }) });
  const timer = setTimeout(() => request.destroy(silence(timeout)), timeout);
  request.on('response', (response) => {
    clearTimeout(timer);
    // without a listener, an abort before the body is read would throw; a reader of the body gets the error anyway
    response.on('error', () => {});
    resolve(response);
  });
  request.on('error', (error) => {
    clearTimeout(timer);
    const isOurs = error instanceof Silence || signal?.aborted === true;
    if (renew === undefined || isOurs || !request.reusedSocket) reject(error);
    else resolve(exchange(url, { ...call, agent: renew(), renew: undefined }));
  });
  request.end(body);
  return promise;
}

export interface Reading {
  /** After this many milliseconds without a byte, reading throws {@link Silence}. */
  timeout?: number | undefined;
  /** After more than this many bytes, reading throws {@link TooLarge}. */
  max?: number | undefined;
}

export async function readBody(response: IncomingMessage, reading: Reading): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of chunksOf(response, reading)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Yields the chunks of a body. Between chunks, the event loop can answer admission calls. */
export async function* chunksOf(
  response: IncomingMessage,
  { timeout, max = Number.POSITIVE_INFINITY }: Reading,
): AsyncGenerator<Buffer, void, undefined> {
  let bytes = 0;
  const timer =
    timeout === undefined ? undefined : setTimeout(() => response.destroy(silence(timeout)), timeout);
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      timer?.refresh();
      bytes += chunk.length;
      if (bytes > max) throw new TooLarge(`an answer of more than ${max} bytes`);
      yield chunk;
      await nextTurn();
    }
  } finally {
    clearTimeout(timer);
    response.destroy();
  }
}
