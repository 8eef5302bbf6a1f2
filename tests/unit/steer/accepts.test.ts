import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toDaemonSetFacts } from '../../../webhook/readiness/to-facts.ts';
import { acceptsBy, trialsBy } from '../../../webhook/steer/accepts.ts';
import { policyOf } from '../../support/configurations.ts';
import { evidenceWith, start } from '../evidence/support.ts';
import { clusterWith } from '../gate/support.ts';
import { apiDaemonSet } from '../readiness/objects.ts';
import { now } from './support.ts';

test('a node accepts the pods that the gate would allow there', () => {
  const readiness = clusterWith({ n1: { ready: false }, n2: {}, n3: undefined });
  const elsewhere = toDaemonSetFacts(apiDaemonSet('elsewhere', { nodeSelector: { pool: 'a' } }));
  readiness.apply({ kind: 'daemonset', facts: elsewhere }, now);
  const brings = (name: string, ...daemonSets: string[]): object => ({
    name,
    daemonSets: daemonSets.map((daemonSet) => ({ namespace: 'net', name: daemonSet })),
  });
  const profiles = [
    brings('mesh', 'agent'),
    brings('lost', 'nobody'),
    brings('pool', 'elsewhere'),
    brings('bare'),
  ];
  const accepts = acceptsBy(policyOf({ profiles }), readiness, now);
  assert.deepEqual(
    [accepts(['mesh'], 'n1'), accepts(['mesh'], 'n2'), accepts(['mesh'], 'n3')],
    [false, true, false],
  );
  assert.equal(accepts(['mesh'], 'gone'), true, 'a node that is gone');
  assert.equal(accepts(['lost'], 'n1'), true, 'a DaemonSet that does not exist');
  assert.equal(accepts(['pool'], 'n1'), true, 'a DaemonSet that excludes the node');
  assert.deepEqual(
    [accepts(['bare'], 'n1'), accepts(['unknown'], 'n1'), accepts([], 'n1')],
    [true, true, true],
  );
  assert.equal(accepts(['lost', 'bare', 'mesh'], 'n1'), false, 'each profile counts');
});

test('a node gets one pod at a time while no proof has passed there', () => {
  const readiness = clusterWith({ n1: { ready: true }, n2: { ready: true } });
  const mesh = { name: 'mesh', daemonSets: [{ namespace: 'net', name: 'agent' }], evidence: 'proof' };
  const policy = policyOf({ profiles: [mesh, { name: 'bare' }] });
  const isTrial = trialsBy(
    policy,
    readiness,
    start,
    evidenceWith([{ node: 'n2', verdict: 'passed', at: 7 }]),
  );
  assert.deepEqual([isTrial(['bare', 'mesh'], 'n1'), isTrial(['mesh'], 'n2')], [true, false]);
  assert.deepEqual([isTrial(['bare'], 'n1'), isTrial(['unknown'], 'n1')], [false, false]);
});
