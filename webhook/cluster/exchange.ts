import { type Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { text } from 'node:stream/consumers';

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

/** The peer took the request and said nothing for too long; bytes may be swallowed on the way. */
export class Silence extends Error {
  constructor(timeout: number) {
    super(`no byte for ${timeout} ms`);
  }
}

/** The answer is larger than whoever asked can take. */
export class TooLarge extends Error {
  constructor(most: number) {
    super(`an answer of more than ${most} bytes`);
  }
}

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
  const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
  const request = open(url, { method, headers, agent, ...(signal !== undefined && { signal }) });
  const timer = setTimeout(() => request.destroy(new Silence(timeout)), timeout);
  request.on('response', (response) => {
    clearTimeout(timer);
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

/**
 * The whole body; ends with {@link Silence} when nothing comes for `timeout` milliseconds, and with {@link TooLarge}
 * when it has more than `most` bytes.
 */
export async function readBody(
  response: IncomingMessage,
  timeout: number,
  most = Number.POSITIVE_INFINITY,
): Promise<string> {
  const end = watchOver(response, timeout, most);
  try {
    return await text(response);
  } finally {
    end();
  }
}

/**
 * Hands on the body as it comes, and ends as {@link readBody} does.
 *
 * @returns how many bytes there were
 */
export async function readChunks(
  response: IncomingMessage,
  { timeout, most = Number.POSITIVE_INFINITY }: { timeout: number; most?: number | undefined },
  onChunk: (chunk: Buffer) => void,
): Promise<number> {
  let bytes = 0;
  const end = watchOver(response, timeout, most);
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      onChunk(chunk);
    }
    return bytes;
  } finally {
    end();
    response.destroy();
  }
}

/** Ends an answer that is silent for too long, or too large. @returns what ends the watching */
function watchOver(response: IncomingMessage, timeout: number, most: number): () => void {
  let bytes = 0;
  const timer = setTimeout(() => response.destroy(new Silence(timeout)), timeout);
  response.on('data', (chunk: Buffer) => {
    timer.refresh();
    bytes += chunk.length;
    if (bytes > most) response.destroy(new TooLarge(most));
  });
  return () => clearTimeout(timer);
}
