import assert from 'node:assert/strict';
import { mock, suite, type TestContext, test } from 'node:test';
import type { PodEvidence } from '../../../../webhook/core/facts/pod-evidence.ts';
import { type SkipReason, skipReasons } from '../../../../webhook/leader/repair/decide.ts';
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
    /** Reports, `at` ms after the start, that repair leaves a pod alone. @returns the note of the event, if any */
    skipped: async (reason: SkipReason, at: number, given: Partial<PodEvidence> = {}, why = '') => {
      mock.timers.setTime(start + at);
      events.length = 0;
      await reports.skipped({ ...pod, ...given }, { reason, why });
      return events[0]?.note;
    },
  };
}

suite('an event about a pod that is left alone', () => {
  for (const reason of skipReasons.filter((one) => one !== 'leaving' && one !== 'unready')) {
    test(`is written once within a minute, even if the reason changes meanwhile: ${reason}`, async (t) => {
      const { skipped } = await reporting(t);
      await skipped('leaving', 0);
      assert.ok(await skipped(reason, 58_000));
      assert.equal(await skipped(reason, 60_000), undefined);
    });
  }

  test('is written immediately if waiting cannot help, and its action says whether repair has stopped', async (t) => {
    const { skipped, events } = await reporting(t);
    const actions: unknown[] = [];
    for (const reason of ['no-controller', 'ended', 'breaker'] as const) {
      assert.ok(await skipped(reason, 0));
      actions.push(events[0]?.action);
    }
    assert.deepEqual(actions, ['Leave', 'Leave', 'Stop']);
  });

  test('is not written about a lost network that repair leaves alone: NetworkLost reports it', async (t) => {
    const { reports, skipped } = await reporting(t);
    await skipped('unready', 0);
    assert.equal(await skipped('unready', 60_000), undefined);
    assert.deepEqual(reports.reasons(), ['unready']);
    assert.match(
      (await skipped('breaker', 0, lostPod({ name: 'a' }))) ?? '',
      /^the network of pod a on node n1 is lost/,
    );
  });

  test('gives the details, if there are any', async (t) => {
    const { skipped } = await reporting(t);
    const why = 'its kubelet does not report';
    await skipped('node-unreachable', 0, {}, why);
    assert.match(
      (await skipped('node-unreachable', 60_000, {}, why)) ?? '',
      /\(its kubelet does not report\)/,
    );
    assert.doesNotMatch((await skipped('breaker', 60_000)) ?? '()', /\(\)/);
  });

  test('is not written if the pod ended more than ten minutes ago', async (t) => {
    const { skipped } = await reporting(t);
    const endedAt = { ended: true, at: start };
    assert.equal(await skipped('ended', 600_001, endedAt), undefined);
    assert.ok(await skipped('ended', 600_000, endedAt));
  });

  test('is written after 45 s if repair may soon help the pod, and again for another reason', async (t) => {
    const { skipped } = await reporting(t);
    assert.equal(await skipped('node-not-ready', 0), undefined);
    assert.equal(await skipped('node-not-ready', 44_999), undefined);
    assert.ok(await skipped('node-not-ready', 45_000));
    assert.ok(await skipped('owner-pause', 46_000));
  });

  test('causes one request about the workload, however long it is true', async (t) => {
    const { skipped, asked } = await reporting(t);
    for (const at of [0, 2000, 4000]) await skipped('breaker', at, { controller: controllerOf('web') });
    assert.equal(asked.length, 1);
  });

  test('is also written about the workload, once a minute', async (t) => {
    const { events, skipped, reports } = await reporting(t);
    const web = controllerOf('web', 'StatefulSet');
    await skipped('breaker', 0, { controller: web });
    await reports.skipped(failedPod({ name: 'b', controller: web }), { reason: 'breaker' });
    const on = (): string[] => events.map(({ regarding }) => `${regarding.kind} ${regarding.name}`);
    assert.deepEqual(on(), ['Pod a', 'StatefulSet web', 'Pod b']);
    await skipped('breaker', 60_000, { uid: 'uid-c', name: 'c', controller: web });
    assert.deepEqual(on(), ['Pod c', 'StatefulSet web']);
    await reports.recreated(
      { pod: failedPod({ name: 'd', controller: web }), how: 'delete', why: 'it is so' },
      'wouldRecreate',
    );
    assert.deepEqual(on().slice(2), ['Pod d', 'StatefulSet web']);
    assert.match(
      events.at(-1)?.note ?? '',
      /but repair only reports \(repair\.mode is audit, .*\): it is so$/,
    );
  });

  test('is forgotten with the pod, and its reason is no longer counted', async (t) => {
    const { reports, skipped } = await reporting(t);
    await skipped('no-controller', 0);
    assert.deepEqual(reports.reasons(), ['no-controller']);
    reports.forget('uid-a');
    assert.deepEqual(reports.reasons(), []);
  });
});
