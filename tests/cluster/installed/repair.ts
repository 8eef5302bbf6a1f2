import type { Cluster } from '../harness/cluster.ts';
import { decide, ours, type Pod } from '../repair/kubelet.ts';

const pods = '/api/v1/namespaces/shop/pods';

/** Makes a Deployment and a Job, lets the proofs of their pods fail, and waits until both pods are replaced. */
export async function useRepair(cluster: Cluster): Promise<void> {
  const labels = { app: 'failing' };
  const template = (more: object = {}): object => ({
    metadata: { labels, ...ours },
    spec: { containers: [{ name: 'web', image: 'example/web' }], ...more },
  });
  const namespace = 'shop';
  await cluster.apply(
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { namespace, name: 'failing' },
      spec: { selector: { matchLabels: labels }, template: template() },
    },
    {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { namespace, name: 'failing-job' },
      spec: { template: template({ restartPolicy: 'OnFailure' }) },
    },
  );
  const placed = (kind: string, not = ''): Promise<Pod> =>
    cluster.api.until<Pod>(
      `${pods}?labelSelector=app%3Dfailing`,
      ({ metadata, spec }) =>
        spec.nodeName && metadata.ownerReferences?.[0]?.kind === kind && metadata.uid !== not,
    );
  for (const kind of ['ReplicaSet', 'Job']) {
    const pod = await placed(kind);
    await decide(cluster, pod, 95);
    await placed(kind, pod.metadata.uid);
  }
}
