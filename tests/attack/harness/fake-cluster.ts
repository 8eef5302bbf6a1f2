import type { TestContext } from 'node:test';
import {
  type HostileCluster,
  pendingPod as pendingPodOf,
  startHostileCluster,
} from '../../support/hostile-cluster.ts';
import { recorded } from '../../support/reviews.ts';
import { apiAgent, apiDaemonSet, apiNode } from '../../unit/core/networks/objects.ts';

export const nodesPath = '/api/v1/nodes';
export const agentsPath = '/api/v1/namespaces/kube-system/pods';

const inNamespace = <T extends { metadata: object }>(namespace: string, object: T): T => ({
  ...object,
  metadata: { ...object.metadata, namespace, labels: { app: 'cilium' } },
});

/** Cilium's pod on a node. @param reason the reason why its container waits; if absent, the pod is ready */
export const agentOn = (node: string, reason?: string) => {
  const waiting = reason === undefined ? {} : { ready: false, waiting: reason };
  return inNamespace('kube-system', apiAgent(node, { name: `cilium-${node}`, owner: 'cilium', ...waiting }));
};

/** The pod in the Bindings that ordinary callers send. It has no node yet. */
const { name: pendingName = '', uid } = recorded('binding-deployment-web').request.object.metadata;

function pendingPod(): object {
  const pod = pendingPodOf('shop', pendingName) as { metadata: object };
  const labels = { 'cni-gate.io/profile': 'cilium' };
  const annotations = { 'cni-gate.io/status': '{"profiles":["cilium"]}' };
  return { ...pod, metadata: { ...pod.metadata, uid, labels, annotations } };
}

/** A pod that waits because the gate refused to bind it to node n1. */
export function refusedPod(namespace: string, name: string, spec: object = {}): object {
  const pod = pendingPodOf(namespace, name, { refusedAt: '2026-11-21T11:00:00Z' }) as { spec: object };
  const text = JSON.stringify({ ...pod, spec: { ...pod.spec, ...spec } });
  return JSON.parse(text.replaceAll('mesh', 'cilium'));
}

const template = { hostNetwork: true, tolerations: [{ operator: 'Exists' }] };
const cilium = inNamespace('kube-system', apiDaemonSet('cilium', template));
Object.assign(cilium.spec, { selector: { matchLabels: { app: 'cilium' } } });

/** API objects, by the path of their list or of the single object. */
export type Objects = Record<string, object[]>;

/** Two nodes with Cilium, which is not ready on n1. `shop` opted in, and so did `nets`, which uses Multus as well. */
const ordinary = (): Objects => ({
  '/api/v1/namespaces': ['cilium', 'nets', undefined].map((profile, index) => ({
    metadata: {
      name: ['shop', 'nets', 'elsewhere'][index],
      uid: `uid-${index}`,
      resourceVersion: '7',
      labels: profile === undefined ? {} : { 'cni-gate.io/profile': profile },
    },
  })),
  [nodesPath]: [apiNode('n1', 'boot-n1', 7), apiNode('n2', 'boot-n2', 7)],
  '/apis/apps/v1/namespaces/kube-system/daemonsets': [cilium],
  [agentsPath]: [agentOn('n1', 'CrashLoopBackOff'), agentOn('n2')],
  '/api/v1/pods': [pendingPod()],
  // if a server has not listed the pods yet, it requests this single pod
  [`/api/v1/namespaces/shop/pods/${pendingName}`]: [pendingPod()],
});

/**
 * Starts a fake API server with the objects of {@link ordinary}. All other lists are empty.
 * @param more lists in addition to these, or in place of them
 */
export async function startFakeCluster(t: TestContext, more: Objects = {}): Promise<HostileCluster> {
  const objects = { ...ordinary(), ...more };
  return startHostileCluster(t, (path) => objects[path] ?? []);
}
