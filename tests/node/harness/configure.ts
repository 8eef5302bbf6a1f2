import assert from 'node:assert/strict';
import type { Cluster } from '../../cluster/harness/cluster.ts';
import { eventually } from '../../cluster/harness/eventually.ts';
import { ownMetric } from '../../cluster/harness/metrics.ts';
import { applyOwn } from '../../cluster/installed/overlay.ts';
import type { RunningPod } from '../../cluster/installed/pod.ts';

const fileOf = (settings: object): string =>
  JSON.stringify({ apiVersion: 'cni-gate.io/v1alpha1', kind: 'Configuration', ...settings });

/** Applies the overlay `strict` with other settings. Running pods load these when the kubelet updates their volumes. */
export async function applyWith(cluster: Cluster, settings: object): Promise<void> {
  const patch = JSON.stringify([{ op: 'add', path: '/data/config.yaml', value: fileOf(settings) }]);
  const patches = [{ target: { kind: 'ConfigMap', name: 'cni-gate' }, patch }];
  await applyOwn(cluster, { overlay: 'strict', fields: { patches } });
}

const path = '/api/v1/namespaces/cni-gate/configmaps/cni-gate';

/** Writes settings into cni-gate's ConfigMap, and waits until all replicas have loaded them. */
export async function configure(cluster: Cluster, replicas: RunningPod[], settings: object): Promise<void> {
  const data = { 'config.yaml': fileOf(settings) };
  const before = await cluster.api.get<{ data: typeof data }>(path);
  // without a change, no replica would reload
  if (before.data['config.yaml'] === data['config.yaml']) return;
  await cluster.api.patch(path, { data });
  await Promise.all(replicas.map(takeUp));
}

async function takeUp(replica: RunningPod): Promise<void> {
  const before = await reloads(replica);
  await replica.refresh();
  const now = await eventually(async () => {
    const counts = await reloads(replica);
    assert.notDeepEqual(counts, before);
    return counts;
  });
  assert.equal(
    now.failure,
    before.failure,
    'the configuration was refused: see the lines that the replica logged',
  );
}

/** How often a replica loaded a changed configuration, and how often it rejected one. */
async function reloads(replica: RunningPod): Promise<{ success: number; failure: number }> {
  const count = (result: string): Promise<number> =>
    ownMetric([replica], 'cni_gate_reloads_total', { source: 'configuration', result });
  return { success: await count('success'), failure: await count('failure') };
}
