import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { type Asked, type FakeApiServer, json, startFakeApi, status } from '../../support/fake-api-server.ts';
import { event } from '../../support/informing.ts';
import { recorded } from '../../support/reviews.ts';

export interface FakeCluster extends FakeApiServer {
  send(path: string, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: object): void;
}

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

function pendingPod(): object {
  const { name, uid } = recorded('binding-deployment-web').request.object.metadata;
  return {
    metadata: meta(name ?? '', {
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
});

/** Lists of other paths than those of {@link ordinary} are empty, and of single objects only pods are found. */
export async function startFakeCluster(t: TestContext): Promise<FakeCluster> {
  const objects = ordinary();
  const watches = new Map<string, Set<ServerResponse>>();
  const api = await startFakeApi(t, ({ path, query, method }: Asked, response) => {
    if (query.watch !== undefined) {
      // what tests send of pods are pods that wait
      const key = query.fieldSelector === 'spec.nodeName!=' ? 'pods on nodes' : path;
      const others = watches.get(key) ?? new Set();
      watches.set(key, others.add(response.writeHead(200)));
      response.flushHeaders();
      response.on('close', () => others.delete(response));
      return;
    }
    const pod = podAt(path, objects);
    const selected = objects[path]?.filter((one) => isSelected(one, query.fieldSelector));
    if (selected !== undefined || isList(path)) {
      const metadata = { resourceVersion: '50' };
      json(response, 200, { kind: 'List', metadata, items: method === 'GET' ? (selected ?? []) : [] });
    } else if (pod !== undefined) json(response, 200, pod);
    else json(response, 404, status(404, 'NotFound', `${path} not found`));
  });
  return {
    ...api,
    send: (path, type, object) => {
      for (const watch of watches.get(path) ?? []) watch.write(event(type, object));
    },
  };
}

/** The pod of a path. A server that has not listed the pods yet asks for it. */
function podAt(path: string, objects: Objects): object | undefined {
  const [, namespace, name] = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)$/.exec(path) ?? [];
  return objects['/api/v1/pods']?.find((one) => {
    const { metadata } = one as { metadata: { namespace: string; name: string } };
    return metadata.namespace === namespace && metadata.name === name;
  });
}

/** Whether a path is one of a collection: those of single objects have a name behind it. */
const isList = (path: string): boolean => /\/(pods|nodes|namespaces|daemonsets|leases|events)$/.test(path);

/**
 * Lists of one DaemonSet ask by `metadata.name`, and what tests put there of pods waits for a node. Other field selectors
 * are left to the test.
 */
function isSelected(object: object, fieldSelector = ''): boolean {
  if (fieldSelector === 'spec.nodeName!=') return false;
  const name = /^metadata\.name=(.*)$/.exec(fieldSelector)?.[1];
  return name === undefined || (object as { metadata: { name: string } }).metadata.name === name;
}
