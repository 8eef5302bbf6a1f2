import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type HoldWatchOptions, watchHolds } from '../../../webhook/cluster/steer/hold-watch.ts';
import type { Notice } from '../../../webhook/steer/notice.ts';
import { policyOf } from '../../support/configurations.ts';
import { clusterWith } from '../gate/support.ts';
import { waiting } from './support.ts';

const daemonSets = [{ namespace: 'net', name: 'agent' }];
const profiles = [{ name: 'mesh', when: {}, daemonSets, annotations: {}, proof: { checks: [] } }];

interface Scene extends Partial<Pick<HoldWatchOptions, 'state'>> {
  steer?: 'nominate' | 'off';
  leads?: boolean;
  unsynced?: string;
  room?: number;
}

/** What is told at the first look, which is at once, of a pod that has been held for long. */
async function told(scene: Scene = {}): Promise<string[]> {
  const { leads = true, steer = 'nominate', state = () => 'steering' as const, room = 9 } = scene;
  const notices: Notice[] = [];
  const policy = policyOf({ profiles, steer: { mode: steer } });
  const stop = new AbortController();
  const over = watchHolds(
    {
      view: {
        // of a day that is over, so that everything is long ago
        readiness: clusterWith({ n1: { ready: false } }),
        waiting: () => [waiting('web')],
        unsynced: () => scene.unsynced,
        policy: () => policy,
      },
      leader: { leads, subscribe: () => () => {} },
      notices: { room, tell: (notice) => notices.push(notice) },
      state,
    },
    stop.signal,
  );
  stop.abort();
  await over;
  return notices.map(({ note }) => /No other node is named for it: (.*)\. Look/.exec(note)?.[1] ?? '');
}

suite('long holds are looked at', () => {
  test('by who leads, and tells them', async () => assert.deepEqual(await told(), ['']));
  test('not by who does not', async () => assert.deepEqual(await told({ leads: false }), []));
  test('not before all is known', async () => assert.deepEqual(await told({ unsynced: 'nodes' }), []));
  test('not while too many wait to be told', async () => assert.deepEqual(await told({ room: 0 }), []));
  test('where steering is off, too', async () => {
    assert.deepEqual(await told({ steer: 'off' }), ['steer.mode is off']);
  });
  test('where the API server is too old for it, too', async () => {
    const old = await told({ state: () => 'api-server-too-old' });
    assert.deepEqual(old, ['schedulers go by that from Kubernetes 1.35 on']);
  });
});
