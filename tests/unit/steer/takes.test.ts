import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pickDaemonSet } from '../../../webhook/readiness/pick.ts';
import { takesBy } from '../../../webhook/steer/takes.ts';
import { policyOf } from '../../support/configurations.ts';
import { clusterWith } from '../gate/support.ts';
import { apiDaemonSet } from '../readiness/objects.ts';
import { now } from './support.ts';

test('a node takes whom the gate would let through there', () => {
  const readiness = clusterWith({ n1: { ready: false }, n2: {}, n3: undefined });
  const elsewhere = pickDaemonSet(apiDaemonSet('elsewhere', { nodeSelector: { pool: 'a' } }));
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
  const takes = takesBy(policyOf({ profiles }), readiness, now);
  assert.deepEqual(
    [takes(['mesh'], 'n1'), takes(['mesh'], 'n2'), takes(['mesh'], 'n3')],
    [false, true, false],
  );
  assert.equal(takes(['mesh'], 'gone'), true, 'a node that is gone');
  assert.equal(takes(['lost'], 'n1'), true, 'a DaemonSet that does not exist');
  assert.equal(takes(['pool'], 'n1'), true, 'one that does not want the node');
  assert.deepEqual([takes(['bare'], 'n1'), takes(['unheard-of'], 'n1'), takes([], 'n1')], [true, true, true]);
  assert.equal(takes(['lost', 'bare', 'mesh'], 'n1'), false, 'each of them counts');
});
