import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { type Event, podReference } from '../../../../webhook/cluster/events/event.ts';
import { EventRecorder, eventMetrics } from '../../../../webhook/cluster/events/recorder.ts';
import { eventReasons } from '../../../../webhook/lib/names.ts';
import { eventually } from '../../../support/eventually.ts';
import { type Asked, json, startFakeApi, status } from '../../../support/fake-api-server.ts';
import { waiting } from '../../leader/steering/support.ts';

const about = (name: string): Event => ({
  regarding: podReference(waiting(name)),
  type: 'Warning',
  reason: eventReasons.notRecreated,
  action: 'Leave',
  occasion: '7',
  note: 'waits',
});

interface Scene {
  leads?: boolean;
  answer?: (asked: Asked, response: ServerResponse) => void;
}

async function events(t: TestContext, { leads = true, answer }: Scene = {}) {
  const lines: string[] = [];
  const registry = new Registry();
  const leader = { leads, subscribe: () => () => {} };
  const api = await startFakeApi(t, answer ?? ((_, response) => json(response, 201, {})));
  const log = { info: () => {}, warn: (_: object, text: string) => lines.push(text), error: () => {} };
  const queue = new EventRecorder(api.client, {
    leader,
    metrics: eventMetrics(registry),
    log,
    instance: 'pod-1',
  });
  const stop = new AbortController();
  let over: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    stop.abort();
    await over;
  };
  t.after(end);
  const counts = async (): Promise<Record<string, number>> => {
    const { values } = (await registry.getSingleMetric('cni_gate_events_total')?.get()) ?? { values: [] };
    return Object.fromEntries(values.map(({ labels, value }) => [labels.result, value]));
  };
  return {
    api,
    lines,
    queue,
    end,
    run: () => {
      over = queue.run(stop.signal);
    },
    /** Adds events, and waits until the metric shows these results. */
    add: async (names: string[], results: Record<string, number>): Promise<void> => {
      for (const name of names) queue.add(about(name));
      await eventually(counts, results);
    },
    counts,
  };
}

suite('events on pods', () => {
  test('are named after the pod, the reason and the occasion', async (t) => {
    const { api, queue, run } = await events(t);
    run();
    queue.add(about('web'));
    const { method, path, body } = await api.nth(0);
    assert.deepEqual([method, path], ['POST', '/apis/events.k8s.io/v1/namespaces/shop/events']);
    const { eventTime, ...event } = JSON.parse(body);
    assert.match(eventTime, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    assert.deepEqual(event, {
      apiVersion: 'events.k8s.io/v1',
      kind: 'Event',
      metadata: { namespace: 'shop', name: 'cni-gate.web-uid.notrecreated.7' },
      type: 'Warning',
      reason: 'NotRecreated',
      action: 'Leave',
      note: 'waits',
      regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'shop', name: 'web', uid: 'web-uid' },
      reportingController: 'cni-gate.io/leader',
      reportingInstance: 'pod-1',
    });
  });

  test('that cannot be written are counted, logged once, and written when they are added again; others are still written', async (t) => {
    const fault = status(500, 'InternalError', 'etcd is away');
    const { lines, add, run } = await events(t, {
      answer: ({ body }, response) => {
        const exists = status(409, 'AlreadyExists', 'there');
        if (body.includes('"old"')) json(response, 409, exists);
        else json(response, 500, fault);
      },
    });
    run();
    await add(['old'], { exists: 1 });
    await add(['a', 'b'], { exists: 1, failed: 2 });
    await add(['c', 'a'], { exists: 1, failed: 4 });
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /^an event cannot be written: .*etcd is away/);
  });

  test('are written once, however often they are added', async (t) => {
    const { api, queue, run } = await events(t);
    assert.deepEqual([queue.add(about('web')), queue.add(about('web')), queue.capacity], [true, false, 199]);
    run();
    await api.nth(0);
    assert.equal(queue.add(about('web')), false);
  });

  test('are dropped if the queue is full, and by a replica that does not lead', async (t) => {
    const { api, queue, add, run } = await events(t, { leads: false });
    for (let index = 0; queue.capacity > 0; index += 1) queue.add(about(`web-${index}`));
    await add(['web'], { dropped: 1 });
    run();
    await add([], { dropped: 201 });
    assert.deepEqual(api.asked, []);
  });

  test('are written one after another, at most ten a second', async (t) => {
    const { api, queue, end, run } = await events(t);
    for (let index = 0; index < 50; index += 1) queue.add(about(`web-${index}`));
    run();
    await api.nth(1);
    await sleep(200);
    await end();
    assert.ok(api.asked.length <= 5, `${api.asked.length} in 0.3 s`);
  });
});
