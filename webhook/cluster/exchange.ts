import type { Agent, IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { http } from '../lib/node-http.ts';

/** One HTTP request. */
export interface Call {
  method: string;
  headers: Record<string, string>;
  body?: string | undefined;
  agent: Agent;
  /** Milliseconds without a byte after which it is given up. */
  timeout: number;
  signal?: AbortSignal | undefined;
  /**
   * Of a request that changes nothing: the agent for a second try, if the server had closed the kept connection of the
   * first one. Go's transport does the same (net/http, `shouldRetryRequest`).
   */
  renew?: (() => Agent) | undefined;
}

/** The peer accepted the request and sent nothing for too long; bytes may be lost on the way. */
export class Silence extends Error {}

const silence = (timeout: number): Silence => new Silence(`no byte for ${timeout} ms`);

/** The answer is larger than the caller accepts. */
export class TooLarge extends Error {}

/** Sends one request and returns the answer once its head is there; its body has to be read or destroyed. */
export function exchange(url: URL, call: Call): Promise<IncomingMessage> {
  const { method, headers, body, agent, timeout, signal, renew } = call;
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const open = url.protocol === 'https:' ? httpsRequest : http.request;
  const request = open(url, { method, headers, agent, ...(signal !== undefined && { signal }) });
  const timer = setTimeout(() => request.destroy(silence(timeout)), timeout);
  request.on('response', (response) => {
    clearTimeout(timer);
    // an abort before the body is read has no reader yet; the reader sees it as the end of the body
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

/** How a body is read. */
export interface Reading {
  /** Milliseconds without a byte after which it ends with {@link Silence}; absent: the caller notices. */
  timeout?: number | undefined;
  /** Bytes; a larger body ends with {@link TooLarge}. */
  max?: number | undefined;
}

/** The whole body. */
export async function readBody(response: IncomingMessage, reading: Reading): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of chunksOf(response, reading)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/**
 * The chunks of a body, which ends as {@link Reading} says. Each chunk has a turn of the event loop, so that admission
 * calls are answered in between.
 */
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
