import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { Evidence } from '../../../webhook/nodes/evidence/evidence.ts';
import type { PodEvidence } from '../../../webhook/nodes/evidence/facts.ts';
import { measureEvidence } from '../../../webhook/server/cluster-metrics.ts';
import { evidencePod, now } from '../nodes/evidence/pods.ts';

const clock = { now: () => now, monotonicNow: () => 0 };

/** The samples of a scrape. */
async function scrape(pods: PodEvidence[], synced = true): Promise<string[]> {
  const registry = new Registry();
  const evidence = new Evidence();
  evidence.apply(
    pods.map((pod) => ({ type: 'put', pod, listed: true })),
    now,
  );
  if (synced) evidence.markSynced();
  measureEvidence({ registry, clock }, { evidence });
  return (await registry.metrics()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}

test('pods are counted by verdict; those that ended are not', async () => {
  const samples = await scrape([
    evidencePod('a'),
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
