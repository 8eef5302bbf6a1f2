import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messageOf } from '../../../webhook/lib/errors.ts';
import { profileLabel, validatorContainer } from '../../../webhook/lib/names.ts';
import type { Cluster } from '../harness/cluster.ts';
import { metric } from '../harness/metrics.ts';
import { namespace, pod, workload } from '../harness/objects.ts';
import { tryPod } from './overlay.ts';

export interface UserPod {
  metadata: {
    name: string;
    annotations?: Record<string, string>;
    labels?: Record<string, string>;
    ownerReferences?: { kind: string }[];
  };
  spec: {
    initContainers?: { name: string; image: string; env?: { name: string; value?: string }[] }[];
    containers: { name: string }[];
  };
  status: { phase: string; qosClass?: string };
}

const webhookCalls = 'apiserver_admission_webhook_request_total';

export const calls = (cluster: Cluster): Promise<number> =>
  metric(cluster.api, webhookCalls, { name: 'pods.cni-gate.io' });

export async function makeNamespace(
  cluster: Cluster,
  name: string,
  labels: Record<string, string> = {},
): Promise<void> {
  await cluster.apply(namespace(name, labels));
  await cluster.api.until(`/api/v1/namespaces/${name}/serviceaccounts`, () => true);
}

/** Creates the DaemonSet that profile cilium waits for. kwok makes its pods Ready on both nodes. */
export async function bringNetwork(cluster: Cluster): Promise<void> {
  const spec = { hostNetwork: true, containers: [{ name: 'cilium-agent', image: 'example/cilium' }] };
  await cluster.apply(workload('DaemonSet', 'cilium', { namespace: 'kube-system', spec }));
}

/** The warnings that kubectl prints for a command, together with the text of its failure. */
export async function warningsOf(cluster: Cluster, args: string[], input?: object): Promise<string> {
  try {
    // with this flag, kubectl does its work, and fails afterwards if there was a warning
    await cluster.kubectl([...args, '--warnings-as-errors'], { input: input ? JSON.stringify(input) : '' });
    return '';
  } catch (error) {
    return messageOf(error);
  }
}

export const deployment = (name: string): object =>
  workload('Deployment', name, {
    spec: {
      initContainers: [{ name: 'migrate', image: 'example/web' }],
      containers: [{ name: 'web', image: 'example/web' }],
    },
  });

export const runningPod = (cluster: Cluster, where: string, app: string): Promise<UserPod> =>
  cluster.api.until<UserPod>(
    `/api/v1/namespaces/${where}/pods?labelSelector=app%3D${app}`,
    ({ status }) => status.phase === 'Running',
  );

export const initNames = ({ spec }: UserPod): string[] => (spec.initContainers ?? []).map(({ name }) => name);

export function testThatItWorks(cluster: Cluster): void {
  test("a Deployment's pod in a namespace that opted in is stored with our init container first", async () => {
    await makeNamespace(cluster, 'shop', { [profileLabel]: 'cilium' });
    await cluster.kubectl(['-n', 'shop', 'apply', '-f', '-'], { input: [deployment('web')] });
    const stored = await runningPod(cluster, 'shop', 'web');
    assert.deepEqual(initNames(stored), [validatorContainer, 'migrate']);
    const { initContainers } = await ownTemplate(cluster);
    assert.equal(stored.spec.initContainers?.[0]?.image, initContainers[0]?.image);
  });

  test('a dry run shows the same', async () => {
    const shown = await cluster.kubectl(
      ['-n', 'shop', 'apply', '--dry-run=server', '-o', 'json', '-f', '-'],
      {
        input: JSON.stringify(pod('alone', { initContainers: [{ name: 'migrate', image: 'example/web' }] })),
      },
    );
    assert.deepEqual(initNames(JSON.parse(shown)), [validatorContainer, 'migrate']);
  });

  test('pods on the host network, and in namespaces that did not opt in, cause no call', async () => {
    const before = await calls(cluster);
    assert.ok(before > 0, 'the API server counts no calls where there were some');
    await makeNamespace(cluster, 'plain');
    await makeNamespace(cluster, 'declined', { [profileLabel]: 'none' });
    for (const where of ['plain', 'declined']) {
      await cluster.kubectl(['-n', where, 'apply', '-f', '-'], { input: [deployment('web')] });
      assert.deepEqual(initNames(await runningPod(cluster, where, 'web')), ['migrate']);
    }
    const onHost = await tryPod<UserPod>(cluster, 'shop', pod('host', { hostNetwork: true }));
    assert.deepEqual(initNames(onHost), []);
    assert.equal(await calls(cluster), before);
  });
}

async function ownTemplate(cluster: Cluster): Promise<{ initContainers: { image: string }[] }> {
  const found = await cluster.api.get<{
    spec: { template: { spec: { initContainers: { image: string }[] } } };
  }>('/apis/apps/v1/namespaces/cni-gate/deployments/cni-gate');
  return found.spec.template.spec;
}
