import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  type Lease,
  type LeaseSpec,
  nextMove,
  type Observation,
  observe,
} from '../../../webhook/cluster/lease/lease.ts';

const lease = (spec: LeaseSpec, resourceVersion = '1'): Lease => ({ metadata: { resourceVersion }, spec });
const seen = (one: Lease | undefined, since = 0): Observation => ({ lease: one, since });
const theirs = lease({
  holderIdentity: 'b',
  leaseDurationSeconds: 15,
  renewTime: '1999-01-01T00:00:00.000000Z',
});

suite('what to do about a Lease', () => {
  const cases: [what: string, observation: Observation, now: number, move: string][] = [
    ['it is not there', seen(undefined), 0, 'create'],
    ['it is ours', seen(lease({ holderIdentity: 'a', leaseDurationSeconds: 15 })), 99_000, 'renew'],
    ['its holder let go of it', seen(lease({ holderIdentity: '' })), 0, 'take'],
    ['it has no spec', seen({ metadata: {} }), 0, 'take'],
    ['it is held, however old its times are by the wall clock', seen(theirs), 15_000, 'wait'],
    ['it was not renewed for its duration', seen(theirs), 15_001, 'take'],
    ['it was seen to change since', seen(theirs, 10_000), 24_000, 'wait'],
  ];
  for (const [what, observation, now, move] of cases) {
    test(what, () => assert.equal(nextMove(observation, 'a', now), move));
  }

  test('it counts from when it was first seen as it is', () => {
    const first = observe(undefined, lease({ holderIdentity: 'b' }, '1'), 100);
    assert.equal(observe(first, lease({ holderIdentity: 'b' }, '1'), 900).since, 100);
    assert.equal(observe(first, lease({ holderIdentity: 'b' }, '2'), 900).since, 900);
    assert.equal(observe(first, undefined, 900).since, 900);
  });
});
