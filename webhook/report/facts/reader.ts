import type { ApiClient } from '../../cluster/client.ts';
import { listAll } from '../../cluster/informer/list-all.ts';
import type { ApiObject } from '../../cluster/informer/object.ts';
import { defaultTiming } from '../../cluster/informer/retry.ts';
import type { Retention, Source } from '../../cluster/informer/source.ts';
import { type Observation, observe } from './observation.ts';

/** How many requests of {@link eachOf} run at a time: more would only wait for each other at the API server. */
const atATime = 4;

/** Reads objects of a cluster, once each. */
export class ClusterReader {
  readonly client: ApiClient;
  readonly signal: AbortSignal;

  /** @param signal ends every request */
  constructor(client: ApiClient, signal: AbortSignal) {
    this.client = client;
    this.signal = signal;
  }

  /**
   * Reads one object.
   *
   * @param what its name in words, for where it may not be read
   * @throws ClusterError as `observe`
   */
  get<T>(path: string, what = 'it'): Promise<Observation<T>> {
    return observe(this.client.request<T>('GET', path, { signal: this.signal }), what);
  }

  /** Lists all objects of a source. @throws ClusterError */
  async list<O extends ApiObject, T>(source: Source<O, T>): Promise<T[]> {
    const options = { timeout: defaultTiming.answer, signal: this.signal, onPage: () => {} };
    const { store } = await listAll(this.client, source, options);
    return [...store.list()];
  }
}

/** Reads a cluster; the end of the reading ends every request. */
export async function withReader<T>(
  client: ApiClient,
  read: (reader: ClusterReader) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  try {
    return await read(new ClusterReader(client, stop.signal));
  } finally {
    stop.abort();
  }
}

/** Lists the objects of many sources, some at a time. @throws ClusterError */
export async function listEach<O extends ApiObject, T>(
  reader: ClusterReader,
  sources: Iterable<Source<O, T>>,
): Promise<T[]> {
  const found: T[][] = [];
  await eachOf(sources, async (source) => {
    found.push(await reader.list(source));
  });
  return found.flat();
}

/** Keeps so many objects at most, of all writers. */
export function atMost<T>(count: number): Retention<T> {
  const max = { count, bytes: Number.POSITIVE_INFINITY };
  return { max, weigh: () => 0 };
}

/** Does the work for each value, some at a time. */
export async function eachOf<T>(values: Iterable<T>, work: (value: T) => Promise<void>): Promise<void> {
  const rest = values[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    // all workers take from the same iterator: what one has, no other gets
    for (let next = rest.next(); !next.done; next = rest.next()) await work(next.value);
  };
  await Promise.all(Array.from({ length: atATime }, worker));
}
