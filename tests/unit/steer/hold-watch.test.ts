import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import type { Notice } from '../../../webhook/events/notice.ts';
import { noEvidence } from '../../../webhook/evidence/evidence.ts';
import { type HoldWatchOptions, watchHolds } from '../../../webhook/steer/hold-watch.ts';
import { policyOf } from '../../support/configurations.ts';
import { clusterWith } from '../gate/support.ts';
import { now, waiting } from './support.ts';

const daemonSets = [{ namespace: 'net', name: 'agent' }];
const profiles = [{ name: 'mesh', when: {}, daemonSets, annotations: {}, proof: { checks: [] } }];

interface Scene extends Partial<Pick<HoldWatchOptions, 'state'>> {
  steer?: 'nominate' | 'off';
  leads?: boolean;
  unsynced?: string;
  capacity?: number;
}

/** Why a pod with a long hold is not steered, as its first event says. */
async function reported(t: TestContext, scene: Scene = {}): Promise<string[]> {
  const { leads = true, steer = 'nominate', state = () => 'steering' as const, capacity = 9 } = scene;
  t.mock.timers.enable({ apis: ['Date'], now });
  const notices: Notice[] = [];
  const policy = policyOf({ profiles, steer: { mode: steer } });
  const stop = new AbortController();
  const over = watchHolds(
    {
      view: {
        readiness: clusterWith({ n1: { ready: false } }),
        evidence: noEvidence,
        pending: () => [waiting('web', { heldSince: now - 300_000 })],
        unsynced: () => scene.unsynced,
      },
      policy: () => policy,
      leader: { leads, subscribe: () => () => {} },
      notices: { capacity, add: (notice) => notices.push(notice) },
      state,
    },
    stop.signal,
  );
  stop.abort();
  await over;
  return notices.map(({ note }) => /No other node is nominated: (.*)\. Look/.exec(note)?.[1] ?? '');
}

suite('events of long holds are written', () => {
  test('by the leader', async (t) => assert.deepEqual(await reported(t), ['']));
  test('not by another replica', async (t) => assert.deepEqual(await reported(t, { leads: false }), []));
  test('not before the view is synced', async (t) =>
    assert.deepEqual(await reported(t, { unsynced: 'nodes' }), []));
  test('not while the queue of events is full', async (t) =>
    assert.deepEqual(await reported(t, { capacity: 0 }), []));
  test('also if steering is off', async (t) => {
    assert.deepEqual(await reported(t, { steer: 'off' }), ['steer.mode is off']);
  });
  test('also if the API server is too old for steering', async (t) => {
    const old = await reported(t, { state: () => 'api-server-too-old' });
    assert.deepEqual(old, ['schedulers use nominations from Kubernetes 1.35 on']);
  });
});
