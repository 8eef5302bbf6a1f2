import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { type Asked, json, startFakeApi } from './fake-api-server.ts';
import { event } from './informing.ts';

/** An API server that lists objects by key, and whose watches send the changes that a test makes. */
export async function startWatchedApi(
  t: TestContext,
  keyOf: (asked: Asked) => string,
  there: Record<string, object[]>,
) {
  const watches = new Map<string, ServerResponse>();
  const waiters = new Set<() => void>();
  const api = await startFakeApi(t, (asked, response) => {
    const key = keyOf(asked);
    if (asked.query.watch === undefined) {
      json(response, 200, { metadata: { resourceVersion: '50' }, items: there[key] ?? [] });
      return;
    }
    watches.set(key, response.writeHead(200));
    response.flushHeaders();
    for (const poll of waiters) poll();
  });
  /** Resolves as soon as a watch is requested; by then the client has processed all earlier answers. */
  const watched = (key: string): Promise<ServerResponse> =>
    new Promise((resolve) => {
      const poll = (): void => {
        const watch = watches.get(key);
        if (watch === undefined) return;
        waiters.delete(poll);
        resolve(watch);
      };
      waiters.add(poll);
      poll();
    });
  return {
    api,
    watched,
    /** Sends an event, and resolves once the client has processed it. */
    tell: async (key: string, type: string, object: object): Promise<void> => {
      const watch = await watched(key);
      watches.delete(key);
      watch.end(event(type, object));
      await watched(key);
    },
  };
}
