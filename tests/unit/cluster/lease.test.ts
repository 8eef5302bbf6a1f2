import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  type Lease,
  type LeaseSpec,
  mayHold,
  type Observation,
  observe,
} from '../../../webhook/cluster/leadership.ts';

const lease = (spec: LeaseSpec, resourceVersion = '1'): Lease => ({ metadata: { resourceVersion }, spec });
const seen = (one: Lease | undefined, since = 0): Observation => ({ lease: one, since });
const theirs = lease({
  holderIdentity: 'b',
  leaseDurationSeconds: 15,
  renewTime: '1999-01-01T00:00:00.000000Z',
});

suite('whether a replica may hold the Lease', () => {
  const cases: [what: string, observation: Observation, now: number, may: boolean][] = [
    ['it is not there', seen(undefined), 0, true],
    ['it is ours', seen(lease({ holderIdentity: 'a', leaseDurationSeconds: 15 })), 0, true],
    ['its holder released it', seen(lease({ holderIdentity: '', leaseDurationSeconds: 1 })), 0, true],
    ['it has no spec', seen({ metadata: {} }), 0, true],
    ['another holds it, however old its times are by the wall clock', seen(theirs), 15_000, false],
    ['it was not renewed for its duration', seen(theirs), 15_001, true],
    ['it has changed since', seen(theirs, 10_000), 24_000, false],
  ];
  for (const [what, observation, now, may] of cases) {
    test(what, () => assert.equal(mayHold(observation, 'a', now), may));
  }

  test('the time counts from when this version was first seen', () => {
    const first = observe(undefined, theirs, 100);
    assert.equal(observe(first, theirs, 900).since, 100);
    assert.equal(observe(first, lease({ holderIdentity: 'b' }, '2'), 900).since, 900);
    assert.equal(observe(first, undefined, 900).since, 900);
  });
});
