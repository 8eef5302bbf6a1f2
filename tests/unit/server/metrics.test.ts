import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import type { Decision } from '../../../webhook/admission/mutate/decide.ts';
import { systemClock } from '../../../webhook/lib/deps.ts';
import { Evidence } from '../../../webhook/nodes/evidence/evidence.ts';
import type { PodEvidence } from '../../../webhook/nodes/evidence/facts.ts';
import { measureEvidence, measureReadiness } from '../../../webhook/server/cluster-metrics.ts';
import { Metrics } from '../../../webhook/server/metrics.ts';
import { policyOf } from '../../support/configurations.ts';
import { clusterWith, pending } from '../admission/gate/support.ts';
import { evidencePod, now } from '../nodes/evidence/pods.ts';
import { evidenceWith } from '../nodes/evidence/support.ts';

test('a patch that does not apply is counted, besides the refusal', async () => {
  const metrics = new Metrics();
  const decision: Decision = {
    outcome: 'refused',
    reason: 'CNI_GATE_PATCH_FAILED',
    profile: 'cilium',
    profiles: [],
    operations: [],
    warnings: [],
    message: 'x',
  };
  metrics.answered('mutate', decision, 0.001);
  metrics.answered('mutate', { ...decision, reason: 'CNI_GATE_NAME_TAKEN' }, 0.001);
  const text = await metrics.registry.metrics();
  assert.match(text, /^cni_gate_patch_failures_total 1$/m);
  assert.match(text, /profile="cilium",outcome="refused",reason="CNI_GATE_PATCH_FAILED"\} 1$/m);
});

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

/** The samples of a scrape. */
async function scrape(pods: PodEvidence[], synced = true): Promise<string[]> {
  const registry = new Registry();
  const evidence = new Evidence();
  evidence.apply(
    pods.map((pod) => ({ type: 'put', pod, listed: true })),
    now,
  );
  if (synced) evidence.markSynced();
  measureEvidence({ registry, clock: { now: () => now, monotonicNow: () => 0 } }, { evidence });
  return (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

test('pods are counted by verdict; those that ended are not', async () => {
  const samples = await scrape([
    evidencePod('a', { wayNotShown: true }),
    evidencePod('b', { verdict: 'failed', failedProfiles: ['multus'] }),
    evidencePod('c', { ended: true }),
    evidencePod('d', { verdict: 'waiting', hasSandbox: false, at: now - 60_000 }),
    evidencePod('e', { verdict: 'waiting', hasSandbox: false, at: now - 59_000 }),
  ]);
  assert.deepEqual(samples, [
    'cni_gate_proofs{verdict="passed"} 1',
    'cni_gate_proofs{verdict="failed"} 1',
    'cni_gate_proofs{verdict="not-possible"} 0',
    'cni_gate_proofs{verdict="wrong-usage"} 0',
    'cni_gate_proofs{verdict="crashed"} 0',
    'cni_gate_proofs{verdict="waiting"} 2',
    'cni_gate_proofs_way_not_shown 1',
    'cni_gate_pods_without_sandbox 1',
    'cni_gate_duplicate_addresses 0',
  ]);
});

test('duplicate addresses are counted, unless one of the pods is being deleted', async () => {
  const twins = (more: Partial<PodEvidence>): PodEvidence[] =>
    ['a', 'b'].map((name) => evidencePod(name, { addresses: ['10.0.0.1', 'fd00::1'], ...more }));
  assert.equal((await scrape(twins({}))).at(-1), 'cni_gate_duplicate_addresses 2');
  assert.equal((await scrape(twins({ leaving: true }))).at(-1), 'cni_gate_duplicate_addresses 0');
});

test('there are no values before all pods are listed', async () => {
  assert.deepEqual(await scrape([evidencePod('a')], false), []);
});
