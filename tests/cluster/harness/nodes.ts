import { randomUUID } from 'node:crypto';
import type { Cluster } from './cluster.ts';
import { fakeNode } from './plans.ts';

export interface NodeOptions {
  labels?: Record<string, string>;
  taints?: { key: string; value?: string; effect: string }[];
  capacity?: Record<string, string>;
  /** Whether kwok simulates the node. Otherwise nobody renews its lease or changes the status of its pods. */
  kwok?: boolean;
}

export async function addNode(cluster: Cluster, name: string, options: NodeOptions = {}): Promise<void> {
  const { api } = cluster;
  await api.post('/api/v1/nodes', nodeObject(name, options));
  if (cluster.options.nodeLifecycle) {
    // the node-lifecycle controller removes the taint once it has seen that the node is Ready
    await api.until<{ spec: NodeSpec }>(`/api/v1/nodes?fieldSelector=metadata.name%3D${name}`, ({ spec }) =>
      (spec.taints ?? []).every(({ key }) => key !== notReady),
    );
  } else {
    // removes the taint that the API server adds to every new node (admission plugin TaintNodesByCondition)
    await api.patch(`/api/v1/nodes/${name}`, { spec: { taints: options.taints ?? null } });
  }
}

const notReady = 'node.kubernetes.io/not-ready';

interface NodeSpec {
  taints?: { key: string }[];
}

export function nodeObject(name: string, options: NodeOptions): object {
  const { labels, taints = [], kwok = true } = options;
  const capacity = {
    cpu: '4',
    memory: '8Gi',
    pods: '110',
    'ephemeral-storage': '100Gi',
    ...options.capacity,
  };
  const now = new Date().toISOString();
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        ...labels,
      },
      annotations: kwok ? { [fakeNode.key]: fakeNode.value } : {},
    },
    spec: { taints },
    status: {
      capacity,
      allocatable: capacity,
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'KubeletReady',
          lastHeartbeatTime: now,
          lastTransitionTime: now,
        },
      ],
      addresses: [{ type: 'Hostname', address: name }],
      nodeInfo: {
        bootID: randomUUID(),
        machineID: name,
        systemUUID: name,
        operatingSystem: 'linux',
        architecture: 'amd64',
        osImage: 'none',
        kernelVersion: '6.1.0',
        containerRuntimeVersion: 'kwok://0',
        kubeletVersion: 'v0.0.0',
        kubeProxyVersion: '',
      },
    },
  };
}
