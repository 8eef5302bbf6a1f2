import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { type Asked, type FakeApiServer, json, startFakeApi } from './fake-api-server.ts';
import { event } from './informing.ts';

/** A pod that waits for a node. If `refusedAt` is set, the gate refused to bind the pod to node n1 then. */
export function pendingPod(
  namespace: string,
  name: string,
  { claimName, refusedAt }: { claimName?: string; refusedAt?: string } = {},
): object {
  const message =
    'running Bind plugin "DefaultBinder": admission webhook "bindings.cni-gate.io" denied the request: ' +
    'node n1 is not ready for profile mesh: DaemonSet net/agent is absent there: no pod of it is on the node (CNI_GATE_NODE_NOT_READY node=n1 profile=mesh state=absent)';
  const condition = { type: 'PodScheduled', status: 'False', message, lastTransitionTime: refusedAt };
  return {
    metadata: {
      name,
      namespace,
      uid: `${namespace}-${name}`,
      resourceVersion: '7',
      creationTimestamp: '2026-11-21T11:00:00Z',
      labels: { 'cni-gate.io/profile': 'mesh' },
      annotations: { 'cni-gate.io/status': '{"profiles":["mesh"]}' },
    },
    spec: {
      containers: [{ name: 'app', resources: { requests: { cpu: '100m' } } }],
      volumes: claimName === undefined ? [] : [{ name: 'data', persistentVolumeClaim: { claimName } }],
    },
    status: { conditions: refusedAt === undefined ? [] : [condition] },
  };
}

export const namespaceOf = (name: string, isIn: boolean, resourceVersion = '5'): object => ({
  metadata: {
    name,
    uid: `uid-${name}`,
    resourceVersion,
    labels: isIn ? { 'cni-gate.io/profile': 'mesh' } : {},
  },
});

/** The key of lists and watches that select only pods that are bound to a node. Other keys are paths. */
export const podsOnNodes = '/api/v1/pods on nodes';

/** Whether a path is that of a collection. The path of a single object ends with the object's name. */
const isCollection = (path: string): boolean =>
  /\/(pods|nodes|namespaces|daemonsets|leases|events)$/.test(path);

export interface HostileCluster extends FakeApiServer {
  /** Resolves as soon as a watch of this key is open. By then, the client has processed all earlier answers. */
  watched(key: string): Promise<ServerResponse>;
  /** Sends an event on the watch of a key. If no watch is open, waits until the client opens one. */
  send(key: string, type: string, object: object): Promise<void>;
  /** Sends an event on the watch of a key, ends the watch, and resolves once the client has processed the event. */
  tell(key: string, type: string, object: object): Promise<void>;
}

/**
 * Starts a fake API server that lists a test's objects in pages, and whose watches send the test's events.
 *
 * @param there returns the objects of a key, or their JSON
 * @param keyOf the key of a list or watch; by default its path
 */
export async function startHostileCluster(
  t: TestContext,
  there: (key: string) => Iterable<object | string>,
  keyOf = ({ path, query }: Asked): string =>
    /^spec\.nodeName(!=|=.)/.test(query.fieldSelector ?? '') ? podsOnNodes : path,
): Promise<HostileCluster> {
  const watches = new Map<string, ServerResponse>();
  const waiting = new Set<() => void>();
  const api = await startFakeApi(t, (asked, response) => {
    const key = keyOf(asked);
    if (asked.query.watch !== undefined) {
      watches.set(key, response.writeHead(200));
      response.flushHeaders();
      for (const poll of waiting) poll();
      return;
    }
    // a client lists again only after its watch has ended
    watches.delete(key);
    const all = asked.method === 'GET' ? [...there(key)] : [];
    if (!isCollection(asked.path)) {
      const [one] = all;
      json(response, one === undefined ? 404 : 200, one ?? { code: 404 });
      return;
    }
    const from = Number(asked.query.continue ?? 0);
    const to = from + Number(asked.query.limit ?? 500);
    const more = to < all.length ? `,"continue":"${to}"` : '';
    response.writeHead(200, { 'content-type': 'application/json' });
    response.write(`{"kind":"List","metadata":{"resourceVersion":"50"${more}},"items":[`);
    const items = all.slice(from, to).map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
    response.end(`${items.join(',')}]}`);
  });
  const watched = (key: string): Promise<ServerResponse> =>
    new Promise((resolve) => {
      const poll = (): void => {
        const watch = watches.get(key);
        if (watch === undefined) return;
        waiting.delete(poll);
        resolve(watch);
      };
      waiting.add(poll);
      poll();
    });
  return {
    ...api,
    watched,
    send: async (key, type, object) => void (await watched(key)).write(event(type, object)),
    tell: async (key, type, object) => {
      const watch = await watched(key);
      watches.delete(key);
      watch.end(event(type, object));
      await watched(key);
    },
  };
}
