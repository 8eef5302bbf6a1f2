import type { Agent, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import type { ConnectionOptions } from 'node:tls';
import { CniGateError } from '../lib/errors.ts';
import { objectBytes } from '../lib/limits.ts';
import { http } from '../lib/node-http.ts';
import { version } from '../lib/version.ts';
import { ClusterError, operationText, refusal, unreachable } from './errors.ts';
import { chunksOf, exchange, readBody, Silence } from './exchange.ts';
import { type Layout, ObjectSplitter, type ObjectText } from './stream.ts';

export interface Connection {
  /** The URL of the API server. It ends in a path if a proxy serves the API below that path. */
  server: string;
  headers: Record<string, string>;
  /** `servername` is the name in the server's certificate, if that name differs from the host in the URL. */
  tls: Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'servername' | 'rejectUnauthorized'>;
  /** The agent for a proxy; undefined if no proxy is used. */
  agent?: Agent;
}

export interface Access {
  /** Where the credentials come from, for messages. */
  readonly source: string;
  /** The context of the kubeconfig file; undefined with a service account. */
  readonly context?: string | undefined;
  /** Called before each request: tokens and certificates can change. @throws CniGateError CNI_GATE_CLUSTER_CONFIG */
  connection(): Promise<Connection>;
  /** Called after the API server rejected the credentials. */
  refresh(): void;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export interface RequestOptions {
  /** The query of the URL. Undefined values are left out. */
  query?: Record<string, string | number | boolean | undefined>;
  body?: unknown;
  /** The content type of the body (default `application/json`). */
  contentType?: string;
  signal?: AbortSignal | undefined;
  /** The maximum time without a received byte, in milliseconds (default 10 s). */
  timeout?: number;
  /**
   * The maximum size of the answer in bytes (default {@link objectBytes}). If the answer is larger, the request fails
   * with the cause `TooLarge`.
   */
  maxBytes?: number;
}

/** Options of a stream. By default, the size of the answer is not limited. */
export interface StreamOptions extends Omit<RequestOptions, 'body' | 'contentType'> {
  layout: Layout;
  /** The maximum size, in bytes, of an object that is read whole (default {@link objectBytes}). */
  maxObject?: number | undefined;
}

/** An answer whose objects are read one by one, by a `for await` loop. */
export interface ObjectStream extends AsyncIterable<ObjectText> {
  /** Must be called after the loop. Returns the list with 0 in place of each item. */
  rest(): unknown;
  bytes(): number;
}

const defaultTimeout = 10_000;

/** Shorter than the idle timeout of Go's server (90 s), so that the client closes idle connections first. */
const idleTimeout = 60_000;

export class ApiClient {
  readonly #access: Access;
  /** The connection pool, and the settings with which it was created: a new pool is needed when the settings change. */
  #agent: Agent | undefined;
  #madeOf = '';
  #server = '';
  #clockSkew = 0;

  constructor(access: Access) {
    this.#access = access;
  }

  get source(): string {
    return this.#access.source;
  }

  get context(): string | undefined {
    return this.#access.context;
  }

  /** Address of the API server, without credentials; empty before the first request. */
  get server(): string {
    return this.#server.replace(/^(\w+:\/\/)[^/]*@/, '$1');
  }

  /**
   * How many milliseconds the API server's clock is ahead of ours, measured at its last answer. The error is up to
   * a second (the resolution of the header `Date`) plus the time that the answer took to arrive.
   */
  get clockSkew(): number {
    return this.#clockSkew;
  }

  /**
   * Sends a request, and returns the parsed answer, whose form is not checked.
   * @throws ClusterError if there is no successful answer; CniGateError CNI_GATE_CLUSTER_CONFIG if the credentials
   *   cannot be read; the signal's reason if the signal was aborted
   */
  async request<T = unknown>(method: Method, path: string, options: RequestOptions = {}): Promise<T> {
    const { timeout = defaultTimeout, signal, maxBytes: max = objectBytes } = options;
    const operation = operationText(method, path);
    return this.#guard(operation, signal, async () => {
      const response = await this.#send(operation, method, path, options);
      const answer: unknown = JSON.parse(await readBody(response, { timeout, max }));
      // callers read fields of the answer, and reading a field of null throws
      if (answer === null) throw new Error('expected a JSON object, got null');
      return answer as T;
    });
  }

  /** Requests an object; undefined if the object does not exist. @throws as {@link request} */
  async get<T = unknown>(path: string, options: RequestOptions = {}): Promise<T | undefined> {
    try {
      return await this.request<T>('GET', path, options);
    } catch (error) {
      if (error instanceof ClusterError && error.status === 404) return undefined;
      throw error;
    }
  }

  /**
   * Requests a list or a watch. For a watch, the timeout applies only until the head of the answer arrives.
   * @throws as {@link request}, here and while objects are read
   */
  async stream(path: string, options: StreamOptions): Promise<ObjectStream> {
    const { layout, query, timeout = defaultTimeout, signal, maxObject } = options;
    const isWatch = layout === 'events';
    const operation = operationText('GET', path, isWatch);
    const asked = isWatch ? { ...options, query: { ...query, watch: true } } : options;
    const response = await this.#guard(operation, signal, () => this.#send(operation, 'GET', path, asked));
    const chunks = chunksOf(response, { timeout: isWatch ? undefined : timeout });
    const splitter = new ObjectSplitter(layout, maxObject ?? objectBytes);
    let bytes = 0;
    let rest: unknown;
    const next = () =>
      this.#guard(operation, signal, async () => {
        const { done, value } = await chunks.next();
        if (done !== true) {
          bytes += value.length;
          return splitter.write(value);
        }
        rest = splitter.end();
        return undefined;
      });
    return {
      rest: () => rest,
      bytes: () => bytes,
      [Symbol.asyncIterator]: async function* () {
        try {
          for (let objects = await next(); objects !== undefined; objects = await next()) yield* objects;
        } finally {
          response.destroy();
        }
      },
    };
  }

  /** Makes later requests use new connections: if one connection is dead, all open ones may be dead. */
  dropConnections(): void {
    this.#agent = undefined;
  }

  close(): void {
    this.#agent?.destroy();
  }

  #agentFor({ agent, server, tls }: Connection): Agent {
    if (agent !== undefined) return agent;
    const secure = server.startsWith('https:');
    const madeOf = JSON.stringify([secure, tls]);
    if (this.#agent === undefined || madeOf !== this.#madeOf) {
      const options = { keepAlive: true, timeout: idleTimeout };
      this.#agent = secure ? new HttpsAgent({ ...tls, ...options }) : new http.Agent(options);
      this.#madeOf = madeOf;
    }
    return this.#agent;
  }

  async #send(
    operation: string,
    method: Method,
    path: string,
    options: RequestOptions,
  ): Promise<IncomingMessage> {
    const { query = {}, body, contentType = 'application/json', signal, timeout = defaultTimeout } = options;
    const connection = await this.#access.connection();
    this.#server = connection.server;
    const url = new URL(connection.server.replace(/\/$/, '') + path);
    for (const [key, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(key, String(value));
    }
    const renew = (): Agent => {
      this.dropConnections();
      return this.#agentFor(connection);
    };
    const sent = body === undefined ? undefined : JSON.stringify(body);
    const response = await exchange(url, {
      method,
      headers: {
        accept: 'application/json',
        'user-agent': `cni-gate/${version}`,
        ...(sent !== undefined && {
          'content-type': contentType,
          'content-length': String(Buffer.byteLength(sent)),
        }),
        ...connection.headers,
      },
      body: sent,
      agent: this.#agentFor(connection),
      timeout,
      signal,
      ...(method === 'GET' && { renew }),
    });
    const reported = Date.parse(response.headers.date ?? '');
    if (!Number.isNaN(reported)) this.#clockSkew = reported - Date.now();
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return response;
    const said = await readBody(response, { timeout, max: objectBytes });
    // so that the next request uses new credentials
    if (status === 401) this.#access.refresh();
    const credentials = `: the credentials of ${this.source} are missing, have expired, or belong to another cluster: log in again`;
    throw refusal(operation, status, said, status === 401 ? credentials : '');
  }

  async #guard<T>(operation: string, signal: AbortSignal | undefined, step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof CniGateError) throw error;
      if (error instanceof Silence) this.dropConnections();
      throw unreachable(operation, this.server, error);
    }
  }
}
