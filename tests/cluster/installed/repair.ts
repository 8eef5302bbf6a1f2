import type { Cluster } from '../harness/cluster.ts';
import { workload } from '../harness/objects.ts';
import { decide, ours, type Pod } from '../repair/kubelet.ts';

const pods = '/api/v1/namespaces/shop/pods';

/** Makes a workload of each kind, lets the proofs of their pods fail, and waits until all are replaced. */
export async function useRepair(cluster: Cluster): Promise<void> {
  const namespace = 'shop';
  const spec = { restartPolicy: 'OnFailure', containers: [{ name: 'web', image: 'example/web' }] };
  const workloads = (['Deployment', 'StatefulSet'] as const).map((kind) =>
    workload(kind, 'failing', { namespace, ...ours }),
  );
  await cluster.apply(...workloads, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { namespace, name: 'failing-job' },
    spec: { template: { metadata: { labels: { app: 'failing' }, ...ours }, spec } },
  });
  const placed = (kind: string, not = ''): Promise<Pod> =>
    cluster.api.until<Pod>(
      `${pods}?labelSelector=app%3Dfailing`,
      ({ metadata, spec }) =>
        spec.nodeName && metadata.ownerReferences?.[0]?.kind === kind && metadata.uid !== not,
    );
  for (const kind of ['ReplicaSet', 'StatefulSet', 'Job']) {
    const pod = await placed(kind);
    await decide(cluster, pod, 95);
    await placed(kind, pod.metadata.uid);
  }
}
