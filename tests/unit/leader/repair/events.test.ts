import assert from 'node:assert/strict';
import { mock, suite, type TestContext, test } from 'node:test';
import type { PodEvidence } from '../../../../webhook/core/facts/pod-evidence.ts';
import type { SkipReason } from '../../../../webhook/leader/repair/decide.ts';
import { reporter } from '../../../../webhook/leader/repair/reporter.ts';
import { startFakeApi } from '../../../support/fake-api-server.ts';
import { eventQueue } from '../scene.ts';
import { controllerOf, failedPod, lostPod, start } from './support.ts';

async function reporting(t: TestContext) {
  const { client, asked } = await startFakeApi(t, (_, response) => response.writeHead(404).end());
  mock.timers.enable({ apis: ['Date'], now: start });
  t.after(() => mock.timers.reset());
  const { written: events, queue } = eventQueue();
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const reports = reporter(client, { events: queue, log });
  const pod = failedPod({ name: 'a', controller: undefined });
  return {
    reports,
    events,
    asked,
    /** Reports, `at` after the start, that a pod is left alone. @returns the event's note, if an event is written */
    skipped: async (reason: SkipReason, at: number, given: Partial<PodEvidence> = {}, why = '') => {
      mock.timers.setTime(start + at);
      events.length = 0;
      await reports.skipped({ ...pod, ...given }, { reason, why });
      return events[0]?.note;
    },
  };
}

suite('an event about a pod that is left alone', () => {
  test('is written after 45 s, once for each reason, and its action says whether repair has stopped', async (t) => {
    const { skipped, events } = await reporting(t);
    assert.equal(await skipped('leaving', 0), undefined);
    assert.equal(await skipped('node-not-ready', 44_999), undefined);
    assert.ok(await skipped('node-not-ready', 45_000));
    assert.equal(events[0]?.action, 'Leave');
    assert.equal(await skipped('node-not-ready', 46_000), undefined);
    assert.equal(await skipped('leaving', 46_000), undefined);
    assert.ok(await skipped('breaker', 46_000));
    assert.equal(events[0]?.action, 'Stop');
  });

  test('is not written about a lost network that repair leaves alone: NetworkLost reports it', async (t) => {
    const { reports, skipped } = await reporting(t);
    for (const at of [0, 60_000]) assert.equal(await skipped('unready', at), undefined);
    assert.deepEqual(reports.reasons(), ['unready']);
    const note = await skipped('breaker', 60_000, lostPod({ name: 'a' }));
    assert.match(note ?? '', /^the network of pod a on node n1 is lost/);
  });

  test('gives the details, if there are any', async (t) => {
    const { skipped } = await reporting(t);
    const why = 'its kubelet does not report';
    await skipped('node-unreachable', 0, {}, why);
    const note = await skipped('node-unreachable', 60_000, {}, why);
    assert.match(note ?? '', /\(its kubelet does not report\)/);
    assert.doesNotMatch((await skipped('breaker', 60_000)) ?? '()', /\(\)/);
  });

  test('is not written if the pod ended more than ten minutes ago', async (t) => {
    const { skipped } = await reporting(t);
    const endedAt = { ended: true, at: start };
    await skipped('ended', 0, endedAt);
    assert.equal(await skipped('ended', 600_001, endedAt), undefined);
    assert.ok(await skipped('ended', 600_000, endedAt));
  });

  test('is also written about the workload, once a minute, with one request', async (t) => {
    const { events, skipped, reports, asked } = await reporting(t);
    const web = controllerOf('web');
    const all = ['a', 'b', 'c'].map((name) => failedPod({ name, controller: web }));
    for (const pod of all) await skipped('breaker', 0, pod);
    await skipped('breaker', 50_000, all[0]);
    await reports.skipped(all[1] as PodEvidence, { reason: 'breaker' });
    const on = (): string[] => events.map(({ regarding }) => `${regarding.kind} ${regarding.name}`);
    assert.deepEqual(on(), ['Pod a', 'ReplicaSet web', 'Pod b']);
    const requests = asked.length;
    await skipped('breaker', 52_000, all[0]);
    assert.equal(asked.length, requests, 'the event is known');
    await skipped('breaker', 60_000, all[2]);
    assert.deepEqual(on(), ['Pod c', 'ReplicaSet web']);
    const recreation = {
      pod: failedPod({ name: 'd', controller: web }),
      how: 'delete',
      why: 'it is so',
    } as const;
    await reports.recreated(recreation, 'wouldRecreate');
    assert.deepEqual(on().slice(2), ['Pod d', 'ReplicaSet web']);
    const note = events.at(-1)?.note ?? '';
    assert.match(note, /but repair only reports \(repair\.mode is audit, .*\): it is so$/);
  });

  test('is forgotten with the pod, and its reason is no longer counted', async (t) => {
    const { reports, skipped } = await reporting(t);
    await skipped('no-controller', 0);
    assert.deepEqual(reports.reasons(), ['no-controller']);
    reports.forget('uid-a');
    assert.deepEqual(reports.reasons(), []);
  });
});
