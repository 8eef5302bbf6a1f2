import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { text as textOf } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../webhook/lib/errors.ts';
import type { Access } from './access.ts';

export class ApiError extends Error {
  readonly status: number;
  /** `reason` of the Status, such as `NotFound` or `Forbidden`. */
  readonly reason: string | undefined;

  constructor(what: string, status: number, text: string) {
    const body = parse(text) as { message?: string; reason?: string } | undefined;
    super(`${what}: ${status} ${body?.message ?? text}`);
    this.status = status;
    this.reason = body?.reason;
  }
}

export interface RequestExtras {
  body?: unknown;
  type?: string;
}

export interface WatchEvent<T> {
  type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  object: T;
}

/** A client of the API server that sends and returns plain JSON, so that tests see exactly what is stored. */
export class Api {
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #agent: Agent;

  /** @param sockets how many requests may run at the same time: an HTTP/1.1 connection carries one at a time */
  constructor({ server, credentials }: Pick<Access, 'server' | 'credentials'>, sockets = 50) {
    this.#url = server.url;
    this.#headers = 'token' in credentials ? { authorization: `Bearer ${credentials.token}` } : {};
    const pair = 'token' in credentials ? {} : { cert: credentials.certificate, key: credentials.key };
    this.#agent = new Agent({ keepAlive: true, maxSockets: sockets, ca: server.authority, ...pair });
  }

  get<T>(path: string): Promise<T> {
    return this.request<T>('GET', path);
  }

  post<T>(path: string, body: unknown): Promise<T> {
    return this.request<T>('POST', path, { body });
  }

  put<T>(path: string, body: unknown): Promise<T> {
    return this.request<T>('PUT', path, { body });
  }

  /** Sends a merge patch (RFC 7386): a list replaces the whole list, and null removes a field. */
  patch<T>(path: string, body: unknown): Promise<T> {
    return this.request<T>('PATCH', path, { body, type: 'application/merge-patch+json' });
  }

  delete<T>(path: string): Promise<T> {
    return this.request<T>('DELETE', path);
  }

  /** Returns the answer as text, for paths that do not return JSON, such as `/metrics` and `/readyz`. */
  async text(path: string, method = 'GET', extras: RequestExtras = {}): Promise<string> {
    return textOf(await this.#answer(method, path, extras));
  }

  async request<T>(method: string, path: string, extras: RequestExtras = {}): Promise<T> {
    return JSON.parse(await this.text(path, method, extras));
  }

  /** Watches a collection until `found` accepts an event. Existing objects come first, as ADDED events. */
  async until<T>(path: string, found: (object: T, type: string) => unknown, seconds = 60): Promise<T> {
    const timeout = AbortSignal.timeout(seconds * 1000);
    let last: unknown;
    let failure = '';
    while (!timeout.aborted) {
      try {
        for await (const { type, object } of this.watch<T>(path, timeout)) {
          if (type === 'ERROR') break;
          if (found(object, type)) return object;
          last = object;
        }
      } catch (error) {
        if (error instanceof ApiError && error.status < 500) throw error;
        if (timeout.aborted) break;
        failure = `\nThe last failure was ${messageOf(error)}`;
        // no event announces that the API server answers again, so the watch is retried
        await sleep(100);
      }
    }
    const seen =
      last === undefined ? 'Nothing was there.' : `The last seen was ${JSON.stringify(last, null, 2)}`;
    throw new Error(`${path}: not accepted within ${seconds} s: ${found}\n${seen}${failure}`);
  }

  async *watch<T>(path: string, signal: AbortSignal): AsyncGenerator<WatchEvent<T>> {
    const url = `${path}${path.includes('?') ? '&' : '?'}watch=true`;
    const answer = await this.#answer('GET', url, {}, signal);
    try {
      for await (const line of linesOf(answer)) yield JSON.parse(line);
    } finally {
      answer.destroy();
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  async #answer(
    method: string,
    path: string,
    { body, type = 'application/json' }: RequestExtras = {},
    signal?: AbortSignal,
  ): Promise<IncomingMessage> {
    const headers = { ...this.#headers, 'content-type': type };
    const sent = request(this.#url + path, {
      method,
      headers,
      agent: this.#agent,
      ...(signal && { signal }),
    });
    const text = body === undefined ? undefined : JSON.stringify(body);
    // by default, Node sends no content-length with DELETE, and the server would parse the body as the next request
    if (text !== undefined) sent.setHeader('content-length', Buffer.byteLength(text));
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    sent.on('response', resolve).on('error', reject).end(text);
    const answer = await promise;
    const status = answer.statusCode ?? 0;
    if (status >= 400) throw new ApiError(`${method} ${path}`, status, await textOf(answer));
    return answer;
  }
}

/** Yields complete lines as they arrive. `readline` would not pass on the error of a broken connection. */
async function* linesOf(answer: IncomingMessage): AsyncGenerator<string> {
  let rest = '';
  for await (const text of answer.setEncoding('utf8')) {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
