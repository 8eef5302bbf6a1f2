import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { Registry } from 'prom-client';
import { Informer, type Timing } from '../../webhook/cluster/informer/informer.ts';
import type { ApiObject } from '../../webhook/cluster/informer/object.ts';
import type { Change } from '../../webhook/cluster/informer/store.ts';
import { clusterMetrics, type Ended } from '../../webhook/cluster/metrics.ts';
import { type Asked, json, startFakeApi } from './fake-api-server.ts';

type Labels = Record<string, string>;

export const namespace = (name: string, resourceVersion: string, labels: Labels = {}): object => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion, labels },
});

export const listOf = (resourceVersion: string, items: object[], token = ''): object => ({
  kind: 'NamespaceList',
  metadata: { resourceVersion, continue: token },
  items,
});

export const event = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`;

/** Starts an informer of namespaces and a fake API server. @param answer answers lists and watches (`query.watch`) */
export async function informing(
  t: TestContext,
  answer: (asked: Asked, response: ServerResponse) => void,
  timing: Timing = {},
) {
  t.mock.method(Math, 'random', () => 0);
  const api = await startFakeApi(t, answer);
  const ends: Ended[] = [];
  const changes: string[] = [];
  const waiting: (() => void)[] = [];
  const notify = (): void => {
    for (const poll of waiting) poll();
  };
  const until = (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const poll = (): void => {
        if (holds()) resolve();
      };
      waiting.push(poll);
      poll();
    });
  const metrics = {
    ...clusterMetrics(new Registry()),
    ended: (_resource: string, ended: Ended): void => {
      ends.push(ended);
      notify();
    },
  };
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const informer = new Informer(
    api.client,
    {
      resource: 'namespaces',
      path: '/api/v1/namespaces',
      pick: (object: ApiObject) => object.metadata.labels ?? {},
    },
    { metrics, log },
    { watch: 1000, grace: 20, answer: 10_000, backoff: 1, longestBackoff: 4, ...timing },
  );
  informer.subscribe((reported: Change<Labels>[]) => {
    changes.push(...reported.map(({ type, key }) => `${type} ${key}`));
    notify();
  });
  const abort = new AbortController();
  const over = informer.run(abort.signal);
  t.after(async () => {
    abort.abort();
    await over;
  });
  return {
    api,
    informer,
    ends,
    changes,
    /** Resolves as soon as this change, given as type and key such as `deleted a`, has been reported. */
    reported: (change: string): Promise<void> => until(() => changes.includes(change)),
    /** Resolves as soon as `count` lists and watches have ended. */
    ended: async (count: number): Promise<Ended[]> => {
      await until(() => ends.length >= count);
      return ends.slice(0, count);
    },
  };
}

/** A handler that answers lists with `list`, and calls `watch` to answer watches. */
export const listing =
  (list: object, watch: (asked: Asked, response: ServerResponse, nth: number) => void) =>
  (asked: Asked, response: ServerResponse): void => {
    if (asked.query.watch === undefined) json(response, 200, list);
    else watch(asked, response, asked.index);
  };
