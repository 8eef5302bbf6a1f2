import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Event } from '../../../../webhook/cluster/events/event.ts';
import { DuplicateWatch } from '../../../../webhook/leader/report/duplicate-watch.ts';
import { report } from '../../../../webhook/leader/report/watch.ts';
import { Evidence } from '../../../../webhook/nodes/evidence/evidence.ts';
import type { PodEvidence } from '../../../../webhook/nodes/evidence/facts.ts';
import { policyOf } from '../../../support/configurations.ts';
import { clusterWith } from '../../admission/gate/support.ts';
import { evidencePod, now } from '../../nodes/evidence/pods.ts';

const address = { addresses: ['10.0.0.1'] };
const twins = (): PodEvidence[] => [evidencePod('a', address), evidencePod('b', address)];
const policy = policyOf({});

interface Scene {
  leads?: boolean;
  synced?: boolean;
  capacity?: number;
}

interface Written {
  second: number;
  event: Event;
}

function written(seconds: number, { leads = true, synced = true, capacity = 100 }: Scene = {}): Written[] {
  const evidence = new Evidence();
  evidence.apply(
    twins().map((pod) => ({ type: 'put', pod, listed: true })),
    now,
  );
  if (synced) evidence.markSynced();
  const all: Written[] = [];
  let second = 0;
  const names = new Set<string>();
  // as the recorder: an event that was queued before is dropped
  const add = (event: Event): void => {
    const name = `${event.regarding.uid} ${event.occasion}`;
    if (!names.has(name)) all.push({ second, event });
    names.add(name);
  };
  const duplicates = new DuplicateWatch();
  const options: Parameters<typeof report>[0] = {
    view: { evidence, readiness: clusterWith({}) },
    policy: () => policy,
    leader: { leads, subscribe: () => () => {} },
    events: { capacity, add },
  };
  for (; second < seconds; second += 1) report(options, duplicates, now + second * 1000);
  return all;
}

suite('two pods with one address', () => {
  test('get one event each, within five seconds', () => {
    const all = written(120);
    assert.deepEqual(
      all.map(({ event }) => [event.reason, event.regarding.name]),
      [
        ['DuplicateAddress', 'a'],
        ['DuplicateAddress', 'b'],
      ],
    );
    assert.ok(all.every(({ second }) => second <= 4));
    assert.equal(
      all[0]?.event.note,
      'address 10.0.0.1 of the pod network is also that of pod shop/b on node node-of-b, the younger one. Connections to it reach either pod. Find out which pod the network gave it to, and delete the other one, without --force',
    );
    assert.match(
      all[1]?.event.note ?? '',
      /^address 10\.0\.0\.1 of the pod network is also that of pod shop\/a on node node-of-a, the older one\./,
    );
    assert.equal(all[0]?.event.occasion, all[1]?.event.occasion);
  });
  test('not from another replica', () => assert.deepEqual(written(10, { leads: false }), []));
  test('not before all pods are known', () => assert.deepEqual(written(10, { synced: false }), []));
  test('not while there is no room for both events', () =>
    assert.deepEqual(written(10, { capacity: 1 }), []));
});
