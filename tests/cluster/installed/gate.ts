import { profileLabel } from '../../../webhook/lib/names.ts';
import type { Cluster } from '../harness/cluster.ts';
import { boundVolume, pod, workload } from '../harness/objects.ts';
import { makeNamespace } from './working.ts';

interface Pod {
  metadata: { name: string; namespace: string; uid: string };
  spec: { nodeName?: string };
  status: { phase: string };
}

const network = 'kube-system';

/**
 * Makes the network of n1 unready, and a pod with a volume that prefers n1: it is refused there, named another node,
 * and bound to that. A pod to which nothing is promised is bound as well, of which the gate has to ask.
 */
export async function useTheGate(cluster: Cluster): Promise<void> {
  const { api } = cluster;
  const containers = [{ name: 'cilium-agent', image: 'example/cilium' }];
  const spec = { hostNetwork: true, tolerations: [{ operator: 'Exists' }], containers };
  const pvc = 'data';
  await makeNamespace(cluster, 'unmeshed', { [profileLabel]: 'linkerd' });
  await cluster.apply(
    workload('DaemonSet', 'cilium', { namespace: network, spec }),
    ...boundVolume('shop', pvc),
  );
  const claims = '/api/v1/namespaces/shop/persistentvolumeclaims';
  await api.until<{ status: { phase: string } }>(claims, ({ status }) => status.phase === 'Bound');
  const onN1 = await agentOn(cluster, 'n1');
  await agentOn(cluster, 'n2');
  const status = { conditions: [{ type: 'Ready', status: 'False' }] };
  await api.patch(`/api/v1/namespaces/${network}/pods/${onN1.metadata.name}/status`, { status });
  const prefersN1 = {
    nodeAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 100,
          preference: {
            matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: ['n1'] }],
          },
        },
      ],
    },
  };
  const volumes = [{ name: pvc, persistentVolumeClaim: { claimName: pvc } }];
  await api.post('/api/v1/namespaces/shop/pods', pod('steered', { affinity: prefersN1, volumes }));
  await api.post('/api/v1/namespaces/unmeshed/pods', pod('plain'));
  await bound(cluster, 'shop', 'steered');
  await bound(cluster, 'unmeshed', 'plain');
}

const agentOn = (cluster: Cluster, node: string): Promise<Pod> =>
  cluster.api.until<Pod>(
    `/api/v1/namespaces/${network}/pods?labelSelector=app%3Dcilium&fieldSelector=spec.nodeName%3D${node}`,
    ({ status }) => status.phase === 'Running',
  );

const bound = (cluster: Cluster, where: string, name: string): Promise<Pod> =>
  cluster.api.until<Pod>(
    `/api/v1/namespaces/${where}/pods?fieldSelector=metadata.name%3D${name}`,
    ({ spec }) => spec.nodeName !== undefined,
  );
