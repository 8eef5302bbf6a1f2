import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Registry } from 'prom-client';
import type { Decision } from '../../../webhook/admission/mutate.ts';
import type { PodEvidence } from '../../../webhook/core/facts/pod-evidence.ts';
import { Evidence } from '../../../webhook/core/networks/evidence.ts';
import { measureCluster } from '../../../webhook/server/cluster-metrics.ts';
import { Metrics } from '../../../webhook/server/metrics.ts';
import { policyOf } from '../../support/configurations.ts';
import { clusterWith, pending } from '../admission/gate/support.ts';
import { evidencePod, now } from '../core/networks/pods.ts';
import { evidenceWith } from '../core/networks/support.ts';

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

/** Scrapes metrics of a cluster with a ready node, two nodes that are not ready, and this evidence. */
async function scrape(evidence: Evidence, names: RegExp, unsynced?: string): Promise<string[]> {
  const registry = new Registry();
  measureCluster(registry, () => policyOf({ profiles }), {
    readiness: clusterWith({ n1: {}, n2: { ready: false }, n3: undefined }),
    evidence,
    pending: () => [pending(), pending({ refused: 'n2' }), pending({ refused: 'n3' })],
    unsynced: () => unsynced,
  });
  const clock = mock.method(Date, 'now', () => now);
  const text = await registry.metrics();
  clock.mock.restore();
  return text.split('\n').filter((line) => names.test(line));
}

const ofNodes = /^cni_gate_(nodes|held_pods)/;
const ofProofs = /^cni_gate_(proofs|pods_|duplicate)/;

/** Evidence that consists of these pods, which a list reported. */
function evidenceOf(...pods: PodEvidence[]): Evidence {
  const evidence = new Evidence();
  evidence.apply(
    pods.map((pod) => ({ type: 'put', pod, listed: true })),
    now,
  );
  evidence.markSynced();
  return evidence;
}

test('the gauges count nodes by state for each existing DaemonSet, zeros included, and held pods', async () => {
  const failed = ['a', 'b'].map((owner) => ({ node: 'n1', owner, verdict: 'failed' as const }));
  for (const [ready, failing, evidence] of [
    [1, 0, evidenceWith([])],
    // the two failed pods have different owners, so the node is failing
    [0, 1, evidenceWith(failed)],
  ] as const) {
    const of = (state: string, count: number): string =>
      `cni_gate_nodes{profile="mesh",daemonset="net/agent",state="${state}"} ${count}`;
    assert.deepEqual(await scrape(evidence, ofNodes), [
      of('ready', ready),
      of('exempt', 0),
      of('starting', 0),
      of('broken', 1),
      of('absent', 1),
      of('rebooted', 0),
      of('failing', failing),
      of('unproved', 0),
      'cni_gate_held_pods 2',
    ]);
  }
});

test('the gauges have no value until everything is listed', async () => {
  assert.deepEqual(await scrape(evidenceOf(), ofNodes, 'nodes'), []);
  assert.deepEqual(await scrape(new Evidence(), ofProofs), []);
});

test('pods are counted by verdict, except those that have ended', async () => {
  const evidence = evidenceOf(
    evidencePod('a', { wayNotShown: true }),
    evidencePod('b', { verdict: 'failed', failedProfiles: ['multus'] }),
    evidencePod('c', { ended: true }),
    evidencePod('d', { verdict: 'waiting', hasSandbox: false, at: now - 60_000 }),
    evidencePod('e', { verdict: 'waiting', hasSandbox: false, at: now - 59_000 }),
    evidencePod('f', { unready: { run: 1, at: now - 10_000, shownBy: '1', patience: 10_000 } }),
  );
  assert.deepEqual(await scrape(evidence, ofProofs), [
    'cni_gate_proofs{verdict="passed"} 1',
    'cni_gate_proofs{verdict="failed"} 1',
    'cni_gate_proofs{verdict="not-possible"} 0',
    'cni_gate_proofs{verdict="wrong-usage"} 0',
    'cni_gate_proofs{verdict="crashed"} 0',
    'cni_gate_proofs{verdict="waiting"} 2',
    'cni_gate_proofs{verdict="lost"} 1',
    'cni_gate_proofs_way_not_shown 1',
    'cni_gate_pods_without_sandbox 1',
    'cni_gate_duplicate_addresses 0',
  ]);
});

test('duplicate addresses are counted, unless one of the pods is being deleted', async () => {
  for (const leaving of [false, true]) {
    const [one, other] = ['a', 'b'].map((name) =>
      evidencePod(name, { addresses: ['10.0.0.1', 'fd00::1'], leaving }),
    ) as [PodEvidence, PodEvidence];
    const samples = await scrape(evidenceOf(one, other), /^cni_gate_duplicate/);
    assert.deepEqual(samples, [`cni_gate_duplicate_addresses ${leaving ? 0 : 2}`]);
  }
});

test('the gauges follow a view that replaces its evidence, as the view of a file does', async () => {
  const registry = new Registry();
  const view = {
    readiness: clusterWith({ n1: {} }),
    evidence: evidenceOf(),
    pending: () => [],
    unsynced: () => undefined,
  };
  measureCluster(registry, () => policyOf({ profiles }), view);
  view.evidence = evidenceOf(evidencePod('a', { wayNotShown: true }));
  const text = await registry.metrics();
  for (const sample of ['proofs{verdict="passed"} 1', 'proofs_way_not_shown 1'])
    assert.ok(text.includes(`\ncni_gate_${sample}\n`), sample);
});
