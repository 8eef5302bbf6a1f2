import { ask, eventually, type Thing } from './api.mts';

/* Demonstrates in a cluster what cni-gate does: run docker compose up and read the output. */

const pods = '/api/v1/namespaces/shop/pods';
const agents = '/api/v1/namespaces/kube-system/pods';

const namespace = (name: string, labels: Record<string, string>): object => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name, labels },
});

const template = { containers: [{ name: 'web', image: 'example/web' }] };

const deployment = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: template },
  },
};

/** The network's DaemonSet, named as in the profile `cilium`. kwok simulates its pods. */
const cilium = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'cilium' },
  spec: {
    selector: { matchLabels: { app: 'cilium' } },
    template: {
      metadata: { labels: { app: 'cilium' } },
      spec: {
        hostNetwork: true,
        tolerations: [{ operator: 'Exists' }],
        containers: [{ name: 'cilium-agent', image: 'example/cilium' }],
      },
    },
  },
};

/** Sets the Ready condition of Cilium's pod on a node, and waits until cni-gate has seen the change. */
async function setReady(node: string, ready: boolean): Promise<void> {
  const agent = await eventually(async () => {
    const { items } = await ask(
      'GET',
      `${agents}?labelSelector=app%3Dcilium&fieldSelector=spec.nodeName%3D${node}`,
    );
    return items?.find(({ status }) => status.phase === 'Running');
  });
  const lastTransitionTime = new Date().toISOString();
  const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime }];
  await ask('PATCH', `${agents}/${agent.metadata.name}/status`, { status: { conditions } });
  // cni-gate's watch reports the change after a moment
  await eventually(async () => {
    const metrics = await (await fetch('http://cni-gate:8080/metrics')).text();
    const notReady = /^cni_gate_nodes\{profile="cilium",.*,state="(starting|broken)"\} [1-9]/m.test(metrics);
    return notReady !== ready || undefined;
  });
}

const initContainers = ({ spec }: Thing): string =>
  (spec.initContainers ?? []).map(({ name }) => name).join(', ') || 'none';

/** Creates an object as soon as the API server accepts it. On a second `docker compose up`, the object may exist. */
async function make(path: string, object: object): Promise<void> {
  await eventually(() =>
    ask('POST', path, object).catch((error: Error) => {
      if (!error.message.includes(' 409 ')) throw error;
      return true;
    }),
  );
}

async function deployTo(where: string): Promise<Thing> {
  await make(`/apis/apps/v1/namespaces/${where}/deployments`, deployment);
  return eventually(async () => {
    const { items } = await ask('GET', `/api/v1/namespaces/${where}/pods?labelSelector=app%3Dweb`);
    return items?.find(({ status }) => status.phase === 'Running');
  });
}

await make('/apis/apps/v1/namespaces/kube-system/daemonsets', cilium);
await make('/api/v1/namespaces', namespace('plain', {}));
await make('/api/v1/namespaces', namespace('shop', { 'cni-gate.io/profile': 'cilium' }));
console.log('Namespace shop opted in: cni-gate.io/profile: cilium. Namespace plain did not.');

console.log('A Deployment "web" is created in both.');
console.log(`  plain/web: init containers of its pod: ${initContainers(await deployTo('plain'))}`);
console.log(`  shop/web:  init containers of its pod: ${initContainers(await deployTo('shop'))}`);

await setReady('node-1', false);
const forNode1 = { ...template, nodeSelector: { 'kubernetes.io/hostname': 'node-1' } };
const { metadata: held } = await ask('POST', pods, {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { generateName: 'held-' },
  spec: forNode1,
});
const refusal = await eventually(async () => {
  const { status } = await ask('GET', `${pods}/${held.name}`);
  return status.conditions?.find(({ message }) => message?.includes(' denied the request: '))?.message;
});
console.log(
  "Cilium's pod on node-1 is no longer Ready, and a pod is created for that node. The gate holds the pod:",
);
console.log(`  shop/${held.name}: ${refusal}`);

await setReady('node-1', true);
const { spec: bound } = await eventually(async () => {
  const now = await ask('GET', `${pods}/${held.name}`);
  return now.spec.nodeName === undefined ? undefined : now;
});
console.log("Cilium's pod is Ready again, and the gate allows the scheduler's next attempt.");
console.log(`  shop/${held.name}: bound to ${bound.nodeName}`);
console.log(
  'Look around: kubectl --server https://localhost:6443 --insecure-skip-tls-verify --token for-trying-out-admin',
);
