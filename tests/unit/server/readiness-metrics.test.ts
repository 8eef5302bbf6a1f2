import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { systemClock } from '../../../webhook/lib/deps.ts';
import { measureReadiness } from '../../../webhook/server/cluster-metrics.ts';
import { policyOf } from '../../support/configurations.ts';
import { clusterWith, pending } from '../admission/gate/support.ts';
import { evidenceWith } from '../nodes/evidence/support.ts';

const profiles = [
  { name: 'mesh', daemonSets: [{ namespace: 'net', name: 'agent' }] },
  { name: 'lost', daemonSets: [{ namespace: 'net', name: 'nobody' }] },
];

/** What the metrics say of a cluster with one node that is ready and two that are not. */
async function measured(unsynced: string | undefined, owners: string[] = []): Promise<string[]> {
  const registry = new Registry();
  measureReadiness({ registry, clock: systemClock }, () => policyOf({ profiles }), {
    readiness: clusterWith({ n1: {}, n2: { ready: false }, n3: undefined }),
    evidence: evidenceWith(owners.map((owner) => ({ node: 'n1', owner, verdict: 'failed' }))),
    pending: () => [pending(), pending({ refused: 'n2' }), pending({ refused: 'n3' })],
    unsynced: () => unsynced,
  });
  const text = await registry.metrics();
  return text.split('\n').filter((line) => line.startsWith('cni_gate_'));
}

test('the gauges count nodes by state for each existing DaemonSet, zeros included, and held pods', async () => {
  const of = (state: string, count: number): string =>
    `cni_gate_nodes{profile="mesh",daemonset="net/agent",state="${state}"} ${count}`;
  assert.deepEqual(await measured(undefined), [
    of('ready', 1),
    of('exempt', 0),
    of('starting', 0),
    of('broken', 1),
    of('absent', 1),
    of('rebooted', 0),
    of('failing', 0),
    of('unproved', 0),
    'cni_gate_held_pods 2',
  ]);
});

test('a node whose DaemonSet is ready and on which proofs of two owners failed counts as failing', async () => {
  const lines = await measured(undefined, ['a', 'b']);
  const of = (state: string): string | undefined =>
    lines.find((line) => line.includes(`state="${state}"`))?.split(' ')[1];
  assert.deepEqual([of('ready'), of('failing'), of('unproved')], ['0', '1', '0']);
});

test('the gauges have no value until everything is listed', async () => {
  assert.deepEqual(await measured('nodes'), []);
});
