import { after } from 'node:test';
import type { Cluster } from '../harness/cluster.ts';
import { addNode } from '../harness/nodes.ts';
import type { ClusterOptions } from '../harness/options.ts';
import { startCluster } from '../harness/start.ts';
import { apply, type Overlay } from './overlay.ts';
import { type RunningPod, type StoredPod, startPod } from './pod.ts';

const selector = 'labelSelector=app.kubernetes.io%2Fname%3Dcni-gate';

interface EndpointSlice {
  endpoints: { addresses: string[]; conditions: { ready: boolean } }[] | null;
}

/** Applies an overlay and starts the Deployment's pods. @param before runs between the two, to add certificates */
export async function install(
  cluster: Cluster,
  overlay: Overlay,
  before: () => Promise<void> = async () => {},
): Promise<{ replicas: RunningPod[] }> {
  await Promise.all([addNode(cluster, 'n1'), addNode(cluster, 'n2')]);
  await apply(cluster, overlay);
  await before();
  const pods = await runningPods(cluster, 2);
  const replicas = await Promise.all(pods.map((pod) => startPod(cluster, pod)));
  await endpoints(cluster, 2);
  await trusted(cluster);
  return { replicas };
}

export async function installed(
  overlay: Overlay,
  options?: ClusterOptions,
): Promise<{ cluster: Cluster; replicas: RunningPod[] }> {
  const cluster = await startCluster(options);
  const { replicas } = await install(cluster, overlay);
  after(() => Promise.all(replicas.map((replica) => replica.end('SIGKILL'))));
  return { cluster, replicas };
}

export async function runningPods(cluster: Cluster, count: number): Promise<StoredPod[]> {
  const seen = new Map<string, StoredPod>();
  await cluster.api.until<StoredPod>(`/api/v1/namespaces/cni-gate/pods?${selector}`, (pod, type) => {
    if (type !== 'DELETED' && pod.status.phase === 'Running' && pod.status.podIP)
      seen.set(pod.metadata.uid, pod);
    else seen.delete(pod.metadata.uid);
    return seen.size === count;
  });
  return [...seen.values()];
}

export async function endpoints(cluster: Cluster, count: number): Promise<void> {
  await cluster.api.until<EndpointSlice>(
    '/apis/discovery.k8s.io/v1/namespaces/cni-gate/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3Dcni-gate',
    ({ endpoints: list }) => (list ?? []).filter(({ conditions }) => conditions.ready).length === count,
  );
}

interface Registration {
  webhooks: { clientConfig: { caBundle?: string } }[];
}

/** Waits until the webhook configurations have a caBundle, by which the API server trusts cni-gate. */
export async function trusted(cluster: Cluster): Promise<void> {
  for (const kind of ['mutatingwebhookconfigurations', 'validatingwebhookconfigurations']) {
    await cluster.api.until<Registration>(
      `/apis/admissionregistration.k8s.io/v1/${kind}?fieldSelector=metadata.name%3Dcni-gate`,
      ({ webhooks }) => webhooks.every(({ clientConfig }) => clientConfig.caBundle),
    );
  }
}
