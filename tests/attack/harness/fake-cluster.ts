import type { TestContext } from 'node:test';
import { type HostileCluster, startHostileCluster } from '../../support/hostile-cluster.ts';
import { recorded } from '../../support/reviews.ts';

type Objects = Record<string, object[]>;

export const agentsPath = '/api/v1/namespaces/kube-system/pods';

const hourAgo = new Date(Date.now() - 3_600_000).toISOString();
const meta = (name: string, more: object = {}): object => ({
  ...{ name, uid: `uid-${name}`, resourceVersion: '7', creationTimestamp: hourAgo, ...more },
});

const node = (name: string): object => ({
  metadata: meta(name, { labels: { 'kubernetes.io/hostname': name } }),
  spec: {},
  status: { nodeInfo: { bootID: `boot-${name}` }, allocatable: { cpu: '8', memory: '16Gi', pods: '110' } },
});

/** The pod of Cilium on a node. @param reason what the kubelet says of its container, where it is not ready */
export const agentOn = (nodeName: string, reason?: string): object => ({
  metadata: meta(`cilium-${nodeName}`, {
    namespace: 'kube-system',
    labels: { app: 'cilium' },
    ownerReferences: [{ uid: 'uid-cilium', controller: true, kind: 'DaemonSet', name: 'cilium' }],
  }),
  spec: { nodeName },
  status: {
    phase: 'Running',
    conditions: [
      { type: 'Ready', status: reason === undefined ? 'True' : 'False', lastTransitionTime: hourAgo },
    ],
    containerStatuses: [
      {
        name: 'cilium-agent',
        ready: reason === undefined,
        containerID: 'containerd://1',
        ...(reason !== undefined && { state: { waiting: { reason } } }),
      },
    ],
  },
});

const { name: pendingName = '', uid } = recorded('binding-deployment-web').request.object.metadata;

function pendingPod(): object {
  return {
    metadata: meta(pendingName, {
      namespace: 'shop',
      uid,
      labels: { 'cni-gate.io/profile': 'cilium' },
      annotations: { 'cni-gate.io/status': '{"profiles":["cilium"]}' },
    }),
    spec: { containers: [{ name: 'app' }] },
    status: {},
  };
}

const cilium = {
  metadata: meta('cilium', { namespace: 'kube-system' }),
  spec: {
    selector: { matchLabels: { app: 'cilium' } },
    template: { metadata: {}, spec: { hostNetwork: true, tolerations: [{ operator: 'Exists' }] } },
  },
};

/** Two nodes with Cilium, which is not ready on n1, and namespaces that opted in: `shop`, and `nets` for a network of Multus. */
const ordinary = (): Objects => ({
  '/api/v1/namespaces': [
    { metadata: meta('shop', { labels: { 'cni-gate.io/profile': 'cilium' } }) },
    { metadata: meta('nets', { labels: { 'cni-gate.io/profile': 'nets' } }) },
    { metadata: meta('elsewhere') },
  ],
  '/api/v1/nodes': [node('n1'), node('n2')],
  '/apis/apps/v1/namespaces/kube-system/daemonsets': [cilium],
  [agentsPath]: [agentOn('n1', 'CrashLoopBackOff'), agentOn('n2')],
  '/api/v1/pods': [pendingPod()],
  // a server that has not listed the pods yet asks for it
  [`/api/v1/namespaces/shop/pods/${pendingName}`]: [pendingPod()],
});

/** Lists of other paths than those of {@link ordinary} are empty, and of single objects only the pod is found. */
export async function startFakeCluster(t: TestContext): Promise<HostileCluster> {
  const objects = ordinary();
  return startHostileCluster(t, (path) => objects[path] ?? []);
}
