import type { Agent, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { CniGateError } from '../lib/errors.ts';
import { jsonParts } from '../lib/json-cost.ts';
import { answerParts, objectBytes, refusalBytes } from '../lib/limits.ts';
import { http } from '../lib/node-http.ts';
import { version } from '../lib/version.ts';
import type { Access, Connection } from './access.ts';
import { operationText, refusal, unreachable } from './errors.ts';
import { exchange, readBeginning, readBody, readChunks, Silence, TooLarge } from './exchange.ts';
import { type BoundedText, ListScanner, linesOf } from './stream.ts';

/** The HTTP methods of the API. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Options of a request. Without any it is sent as it is, and fails after 10 s of silence. */
export interface RequestOptions {
  /** What is undefined is left out. */
  query?: Record<string, string | number | boolean | undefined>;
  /** Sent as JSON. */
  body?: unknown;
  /** Of the body; a PATCH says by it which kind it is, such as `application/merge-patch+json`. */
  contentType?: string;
  signal?: AbortSignal | undefined;
  /** Milliseconds without a byte after which the request fails (default 10 s). */
  timeout?: number;
  /** How many bytes the answer may have (default 3 MiB): more is an error with `TooLarge` as its cause. */
  maxBytes?: number;
}

/** Options of a request whose answer is parsed while it arrives. */
export interface StreamOptions extends Omit<RequestOptions, 'body' | 'contentType'> {
  /** How many bytes one object may have. Of a larger one only the beginning is passed on. */
  objectBytes: number;
}

const defaultTimeout = 10_000;

/** Below the 90 s after which Go's server closes an idle connection, so that the client closes it first. */
const idleTimeout = 60_000;

/** A small client of the Kubernetes API: JSON in, JSON out, and streams of lines. */
export class ApiClient {
  readonly #access: Access;
  /** The pool of connections, and what it was made of: certificates and authorities change. */
  #agent: Agent | undefined;
  #madeOf = '';
  #server = '';
  #clockSkew = 0;

  constructor(access: Access) {
    this.#access = access;
  }

  /** Where the access to the cluster was found, for messages. */
  get source(): string {
    return this.#access.source;
  }

  /** Context of the kubeconfig file; undefined with a service account. */
  get context(): string | undefined {
    return this.#access.context;
  }

  /** Address of the API server, without credentials; empty before the first request. */
  get server(): string {
    return this.#server.replace(/^(\w+:\/\/)[^/]*@/, '$1');
  }

  /**
   * The API server's clock minus ours in its last answer, in milliseconds, to a second or so: the
   * header `Date` knows no finer time, and the way took some of it.
   */
  get clockSkew(): number {
    return this.#clockSkew;
  }

  /**
   * The answer to a request, parsed. `T` is what the caller knows of the API; nothing is checked here.
   *
   * @param path such as `/api/v1/namespaces/shop`: see {@link apiPath}
   * @throws ClusterError where the answer is no success, or there is none; CniGateError CNI_GATE_CLUSTER_CONFIG
   *   where the credentials cannot be read; the signal's reason where it was aborted
   */
  async request<T = unknown>(method: Method, path: string, options: RequestOptions = {}): Promise<T> {
    const { timeout = defaultTimeout, signal, maxBytes: max = objectBytes.default } = options;
    return this.#guard(operationText(method, path), signal, async (operation) => {
      const response = await this.#send(operation, method, path, options);
      const body = await readBody(response, { timeout, max });
      if (jsonParts(body) > answerParts)
        throw new TooLarge(`an answer of more than ${answerParts} lists, objects and strings`);
      const answer: unknown = JSON.parse(body.toString());
      // callers look at its fields, and only null has none that can be read
      if (answer === null) throw new Error('the answer is null and no object');
      return answer as T;
    });
  }

  /**
   * Requests a list and passes on its items while they arrive, so that only one of them is in memory.
   *
   * @param onItem called for each item in turn; what it throws ends the list
   * @returns the list without its items, and how many bytes the answer had
   * @throws as {@link request}
   */
  async list<T = unknown>(
    path: string,
    options: StreamOptions,
    onItem: (item: BoundedText) => void,
  ): Promise<{ list: T; bytes: number }> {
    const { timeout = defaultTimeout, signal, maxBytes, objectBytes } = options;
    return this.#guard(operationText('GET', path), signal, async (operation) => {
      const response = await this.#send(operation, 'GET', path, options);
      const scanner = new ListScanner(objectBytes, onItem);
      const reading = { timeout, max: maxBytes };
      const bytes = await readChunks(response, reading, (chunk) => scanner.write(chunk));
      return { list: scanner.end() as T, bytes };
    });
  }

  /**
   * Opens a watch: the lines of its answer, until the server ends it. They have to be read to their end, or left by
   * `return()` as a loop does, for the connection to be given back.
   *
   * @param options `watch` is added to the query; `timeout` is for the head of the answer only: how long silence may
   * last after it is for the caller to say, by the signal
   * @throws ClusterError and others as {@link request}, here and at each line
   */
  async watch(path: string, options: StreamOptions): Promise<AsyncGenerator<BoundedText, void, undefined>> {
    const operation = operationText('GET', path, true);
    const { query, signal, objectBytes } = options;
    const opened = { ...options, query: { ...query, watch: true } };
    const response = await this.#guard(operation, signal, () => this.#send(operation, 'GET', path, opened));
    return this.#lines(operation, linesOf(response, objectBytes), response, signal);
  }

  /** Uses new connections from now on: one is broken, and the others may be in the same way. */
  dropConnections(): void {
    this.#agent = undefined;
  }

  #renewed(connection: Connection): Agent {
    this.dropConnections();
    return this.#agentFor(connection);
  }

  /** Closes every connection. */
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

  async *#lines(
    operation: string,
    lines: AsyncGenerator<BoundedText, void, undefined>,
    response: IncomingMessage,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<BoundedText, void, undefined> {
    try {
      for (;;) {
        const next = await this.#guard(operation, signal, () => lines.next());
        if (next.done === true) return;
        yield next.value;
      }
    } finally {
      response.destroy();
    }
  }

  /** The answer of the API server, once its status is a success. */
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
      ...(method === 'GET' && { renew: () => this.#renewed(connection) }),
    });
    const reported = Date.parse(response.headers.date ?? '');
    if (!Number.isNaN(reported)) this.#clockSkew = reported - Date.now();
    const status = response.statusCode ?? 0;
    if (status >= 200 && status < 300) return response;
    const said = await readBeginning(response, { timeout, max: refusalBytes });
    // the next request has new credentials
    if (status === 401) this.#access.refresh();
    const credentials = `: the credentials of ${this.source} are missing, have expired, or are of another cluster: log in again`;
    throw refusal(operation, status, said.toString(), status === 401 ? credentials : '');
  }

  /** Runs a step of a request, and turns its errors into those that callers expect. */
  async #guard<T>(
    operation: string,
    signal: AbortSignal | undefined,
    step: (operation: string) => Promise<T>,
  ): Promise<T> {
    try {
      return await step(operation);
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof CniGateError) throw error;
      if (error instanceof Silence) this.dropConnections();
      throw unreachable(operation, this.server, error);
    }
  }
}
