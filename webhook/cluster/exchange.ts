import type { Agent, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { http } from '../lib/node-http.ts';
import type { Connection } from './access.ts';

/** Below the 90 s after which Go's server closes an idle connection, so that the client closes it first. */
const idleTimeout = 60_000;

/** The pool of connections, which is replaced when certificates or authorities change. */
export class Agents {
  #agent: Agent | undefined;
  #madeOf = '';

  for(connection: Connection): Agent {
    if (connection.agent !== undefined) return connection.agent;
    const secure = connection.server.startsWith('https:');
    const madeOf = JSON.stringify([secure, connection.tls]);
    if (this.#agent === undefined || madeOf !== this.#madeOf) {
      this.dropIdle();
      this.#agent = secure
        ? new HttpsAgent({ ...connection.tls, keepAlive: true, timeout: idleTimeout })
        : new http.Agent({ keepAlive: true, timeout: idleTimeout });
      this.#madeOf = madeOf;
    }
    return this.#agent;
  }

  /** Closes the connections that are idle. */
  dropIdle(): void {
    for (const sockets of Object.values(this.#agent?.freeSockets ?? {})) {
      for (const socket of sockets ?? []) socket.destroy();
    }
  }

  close(): void {
    this.#agent?.destroy();
  }
}

/** One HTTP request. */
export interface Call {
  method: string;
  url: URL;
  headers: Record<string, string>;
  body?: string | undefined;
  agent: Agent;
  /** Milliseconds without a byte after which it is given up. */
  timeout: number;
  signal?: AbortSignal | undefined;
}

/** The peer accepted the request and sent nothing for too long; bytes may be lost on the way. */
export class Silence extends Error {
  constructor(timeout: number) {
    super(`no byte for ${timeout} ms`);
  }
}

/** The answer is larger than the caller accepts. */
export class TooLarge extends Error {}

/** Sends one request and returns the answer once its head is there; its body has to be read or destroyed. */
export async function exchange(call: Call): Promise<IncomingMessage> {
  try {
    return await send(call);
  } catch (error) {
    if (!(error instanceof ClosedBefore) || call.method !== 'GET') throw error;
    return await send(call);
  }
}

/**
 * A kept connection that the server closed just as it was used again: nothing was answered, and reading once more
 * is safe. Source: https://nodejs.org/api/http.html#requestreusedsocket
 */
class ClosedBefore extends Error {}

function send({ method, url, headers, body, agent, timeout, signal }: Call): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const open = url.protocol === 'https:' ? httpsRequest : http.request;
  const request = open(url, { method, headers, agent, ...(signal !== undefined && { signal }) });
  const timer = setTimeout(() => request.destroy(new Silence(timeout)), timeout);
  request.on('response', (response) => {
    clearTimeout(timer);
    // an abort before the body is read has no reader yet; the reader sees it as the end of the body
    response.on('error', () => {});
    resolve(response);
  });
  request.on('error', (error: NodeJS.ErrnoException) => {
    clearTimeout(timer);
    const closed = request.reusedSocket && error.code === 'ECONNRESET';
    reject(closed ? new ClosedBefore(error.message, { cause: error }) : error);
  });
  request.end(body);
  return promise;
}

/** How a body is read. */
export interface Reading {
  /** Milliseconds without a byte after which it ends with {@link Silence}. */
  timeout: number;
  /** Bytes; a larger body ends with {@link TooLarge}. */
  max?: number | undefined;
}

/** The whole body. */
export async function readBody(response: IncomingMessage, reading: Reading): Promise<string> {
  const chunks: Buffer[] = [];
  await readChunks(response, reading, (chunk) => chunks.push(chunk));
  return Buffer.concat(chunks).toString();
}

/**
 * Passes on the body while it arrives, and ends as {@link Reading} says. Each chunk has a turn of the event loop, so
 * that admission calls are answered in between.
 *
 * @returns how many bytes there were
 */
export async function readChunks(
  response: IncomingMessage,
  { timeout, max = Number.POSITIVE_INFINITY }: Reading,
  onChunk: (chunk: Buffer) => void,
): Promise<number> {
  let bytes = 0;
  const timer = setTimeout(() => response.destroy(new Silence(timeout)), timeout);
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      timer.refresh();
      bytes += chunk.length;
      if (bytes > max) throw new TooLarge(`an answer of more than ${max} bytes`);
      onChunk(chunk);
      await nextTurn();
    }
    return bytes;
  } finally {
    clearTimeout(timer);
    response.destroy();
  }
}
