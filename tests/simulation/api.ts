import { Readable } from 'node:stream';
import {
  ApiClient,
  type Method,
  type ObjectStream,
  type RequestOptions,
  type StreamOptions,
} from '../../webhook/cluster/client.ts';
import { refusal } from '../../webhook/cluster/errors.ts';
import type { ObjectText } from '../../webhook/cluster/stream.ts';
import type { Clock } from './clock.ts';

/** An object of the API. */
export interface Stored {
  kind: string;
  metadata: { name: string; namespace?: string; labels?: object; [field: string]: unknown };
  spec: { nodeName?: string; [field: string]: unknown };
  status?: object;
}

interface Change {
  at: number;
  before: Stored | undefined;
  after: Stored | undefined;
}

/** The objects of a cluster, and the history of their changes. A resource version is the number of changes so far. */
export class Api {
  readonly clock: Clock;
  /** Handles a request that changes objects, that is, any request but GET. @throws ClusterError */
  readonly write: (method: Method, path: string, body: unknown) => unknown;
  readonly #objects = new Map<string, Stored>();
  readonly #changes: Change[] = [];
  readonly #waiting = new Set<() => void>();

  constructor(clock: Clock, write: Api['write']) {
    this.clock = clock;
    this.write = write;
  }

  get version(): number {
    return this.#changes.length;
  }

  list = (selects: Selects): Stored[] => [...this.#objects.values()].filter(selects);

  /** Adds, replaces or removes an object. @returns the object's new resource version */
  put(object: Stored, isGone = false): string {
    const key = `${object.kind}/${object.metadata.namespace}/${object.metadata.name}`;
    const resourceVersion = `${this.version + 1}`;
    const after = isGone ? undefined : { ...object, metadata: { ...object.metadata, resourceVersion } };
    this.#changes.push({ at: this.clock.now, before: this.#objects.get(key), after });
    if (after === undefined) this.#objects.delete(key);
    else this.#objects.set(key, after);
    for (const end of [...this.#waiting]) end();
    return resourceVersion;
  }

  /** Waits for the first change after `version`. @returns undefined if there is none within `most` milliseconds */
  async change(version: number, most: number, signal?: AbortSignal): Promise<Change | undefined> {
    if (version >= this.version) {
      const { promise, resolve } = Promise.withResolvers<void>();
      const end = (): void => resolve();
      const timer = this.clock.after(most, end);
      this.#waiting.add(end);
      signal?.addEventListener('abort', end);
      await promise;
      signal?.removeEventListener('abort', end);
      this.#waiting.delete(end);
      this.clock.clear(timer);
    }
    signal?.throwIfAborted();
    return this.#changes[version];
  }
}

/** The API client of one replica. Its watches deliver events late, but in order. */
export class ModelClient extends ApiClient {
  /** Returns the delay of the next event, in milliseconds. */
  delay: () => number;
  readonly #api: Api;

  constructor(api: Api) {
    const connection = () => Promise.reject(new Error('nothing is sent'));
    super({ source: 'the model', connection, refresh: () => {} });
    this.#api = api;
    this.delay = () => api.clock.between(5, 100);
  }

  override async request<T>(method: Method, path: string, { body, signal }: RequestOptions = {}): Promise<T> {
    await this.#way(signal);
    if (path === '/version') return { major: '1', minor: '36' } as T;
    if (method !== 'GET') return this.#api.write(method, path, body) as T;
    const [found] = this.#api.list(selectorOf(path));
    if (found === undefined) throw refusal(`get ${path}`, 404, {});
    return found as T;
  }

  override async stream(path: string, { layout, query = {}, signal }: StreamOptions): Promise<ObjectStream> {
    const selects = selectorOf(path, query);
    if (layout === 'events') return streamOf(this.#events(selects, query, signal));
    await this.#way(signal);
    const metadata = { resourceVersion: `${this.#api.version}` };
    return streamOf(Readable.from(Array.from(this.#api.list(selects), textOf)), { metadata, items: [] });
  }

  async *#events(
    selects: Selects,
    query: Query,
    signal: AbortSignal | undefined,
  ): AsyncGenerator<ObjectText> {
    const { clock } = this.#api;
    const until = clock.now + Number(query.timeoutSeconds) * 1000;
    for (let version = Number(query.resourceVersion); ; version += 1) {
      const change = await this.#api.change(version, until - clock.now, signal);
      const { at = until, before, after } = change ?? {};
      const [was, is] = [before, after].map((one) => one !== undefined && selects(one));
      if (change !== undefined && !was && !is) continue;
      const due = Math.max(clock.now, at + this.delay());
      await clock.sleep(Math.min(due, until) - clock.now, signal);
      if (due >= until) {
        // this watch ends before the event is due, so the next watch delivers the event
        yield textOf({ type: 'BOOKMARK', object: { metadata: { resourceVersion: `${version}` } } });
        return;
      }
      const metadata = { ...before?.metadata, resourceVersion: `${version + 1}` };
      const gone = { type: 'DELETED', object: { ...before, metadata } };
      yield textOf(is ? { type: was ? 'MODIFIED' : 'ADDED', object: after } : gone);
    }
  }

  /** Simulates the latency of a request. */
  #way = (signal: AbortSignal | undefined): Promise<void> =>
    this.#api.clock.sleep(this.#api.clock.between(2, 20), signal);
}

const streamOf = (objects: AsyncIterable<ObjectText>, rest?: object): ObjectStream => ({
  [Symbol.asyncIterator]: () => objects[Symbol.asyncIterator](),
  rest: () => rest,
  bytes: () => 0,
});

const textOf = (value: object): ObjectText => ({ text: JSON.stringify(value), isCut: false });

type Query = NonNullable<RequestOptions['query']>;
type Selects = (object: Stored) => boolean;

/** A filter for the objects of a path. It supports one label key without its value, and the field `spec.nodeName`. */
function selectorOf(path: string, { labelSelector = '', fieldSelector }: Query = {}): Selects {
  const [, namespace, resource, name] =
    /^\/apis?\/(?:apps\/)?v1\/(?:namespaces\/([^/]+)\/)?(\w+)(?:\/([^/]+))?$/.exec(path) ?? [];
  const [label = ''] = `${labelSelector}`.split('=');
  const [, operator, node] = /^spec\.nodeName(!?=)([^,]*)/.exec(`${fieldSelector}`) ?? [];
  return ({ kind, metadata, spec }) =>
    `${kind.toLowerCase()}s` === resource &&
    (namespace === undefined || metadata.namespace === namespace) &&
    (name === undefined || metadata.name === name) &&
    (label === '' || Object.hasOwn(metadata.labels ?? {}, label)) &&
    (operator === undefined || ((spec.nodeName ?? '') === node) === (operator === '='));
}
