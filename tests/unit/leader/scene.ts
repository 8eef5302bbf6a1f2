import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { Registry } from 'prom-client';
import type { ApiClient } from '../../../webhook/cluster/client.ts';
import type { Event } from '../../../webhook/cluster/events/event.ts';
import type { LeaderDeps } from '../../../webhook/leader/controller.ts';
import { eventually } from '../../support/eventually.ts';
import { type Asked, json, startFakeApi } from '../../support/fake-api-server.ts';

/** Answers a request. @returns false if the default answer must be sent instead */
export type Answer = (asked: Asked, response: ServerResponse) => unknown;

export const until = (isTrue: () => boolean): Promise<void> => eventually(isTrue, true);

export function switchedLead(leads = true) {
  const changed = new Set<() => void>();
  const leader = {
    leads,
    subscribe: (call: () => void) => {
      changed.add(call);
      return () => changed.delete(call);
    },
  };
  const lead = (now: boolean): void => {
    leader.leads = now;
    for (const call of changed) call();
  };
  return { leader, lead };
}

/** A queue of events that accepts each event only once, like the recorder. */
export function eventQueue(capacity = 200) {
  const written: Event[] = [];
  const known = new Set<string>();
  const add = (event: Event): boolean => {
    const name = `${event.regarding.uid} ${event.reason} ${event.occasion}`;
    if (known.has(name)) return false;
    known.add(name);
    return written.push(event) > 0;
  };
  return { written, queue: { capacity, add } };
}

/** The interval, in milliseconds, at which a controller reconciles all objects in these tests. */
export const resync = 150;

/** Runs a controller of the leader until the test ends. */
export async function running<View>(
  t: TestContext,
  run: (client: ApiClient, deps: LeaderDeps<View>, registry: Registry, signal: AbortSignal) => Promise<void>,
  deps: Pick<LeaderDeps<View>, 'view' | 'policy' | 'leader' | 'resync'>,
  answer?: Answer,
) {
  const api = await startFakeApi(t, (asked, response) => {
    if (answer === undefined || answer(asked, response) === false)
      json(response, 200, asked.method === 'GET' ? { items: [] } : { metadata: { resourceVersion: '11' } });
  });
  const registry = new Registry();
  const events: Event[] = [];
  const lines: { level: string; text: string }[] = [];
  const say =
    (level: string) =>
    (_: object, text: string): void =>
      void lines.push({ level, text });
  const log = { info: say('info'), warn: say('warn'), error: say('error') };
  const queue = { capacity: 200, add: (event: Event) => events.push(event) > 0 };
  const ended = new AbortController();
  const over = run(api.client, { resync, ...deps, events: queue, log }, registry, ended.signal);
  t.after(() => {
    ended.abort();
    return over;
  });
  return {
    api,
    events,
    lines,
    /** The values of a metric that are not 0, by the value of its label. */
    count: async (name: string): Promise<Record<string, number>> => {
      const { values } = (await registry.getSingleMetric(name)?.get()) ?? { values: [] };
      return Object.fromEntries(
        values.filter(({ value }) => value > 0).map(({ labels, value }) => [Object.values(labels)[0], value]),
      );
    },
  };
}
