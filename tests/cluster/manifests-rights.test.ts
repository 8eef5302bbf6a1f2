import assert from 'node:assert/strict';
import { request } from 'node:https';
import { test } from 'node:test';
import { profileLabel } from '../../webhook/lib/names.ts';
import { exchange } from '../support/exchange.ts';
import { reviewOf } from '../support/reviews.ts';
import { eventually } from './harness/eventually.ts';
import { boundVolume, pod, workload } from './harness/objects.ts';
import { installed } from './installed/installation.ts';
import { makeNamespace } from './installed/working.ts';
import { decide, ours, type Pod as RepairedPod } from './repair/kubelet.ts';

interface Rule {
  apiGroups: string[];
  resources: string[];
  verbs: string[];
}

const account = 'system:serviceaccount:cni-gate:cni-gate';
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const home = 'namespaces/cni-gate/roles';

const { cluster, replicas } = await installed('strict');

test('every right in the manifests is used, and no other is requested', async () => {
  await makeNamespace(cluster, 'shop', { [profileLabel]: 'cilium' });
  await askAboutUnknownNamespace();
  await emptySecret();
  await useRepair();
  await useTheGate();
  // the API server writes the audit record of the last request a moment later
  await eventually(async () => assert.deepEqual(used(), await granted()));
  const failed = own().filter(({ responseStatus }) => [401, 403].includes(responseStatus?.code ?? 0));
  assert.deepEqual(failed, []);
});

async function granted(): Promise<string[]> {
  const roles = await Promise.all(
    ['clusterroles/cni-gate', ...['cni-gate', 'cni-gate-leader'].map((name) => `${home}/${name}`)].map(
      (path) => cluster.api.get<{ rules: Rule[] }>(`${rbac}/${path}`),
    ),
  );
  const rights = roles
    .flatMap(({ rules }) => rules)
    .flatMap(({ apiGroups, resources, verbs }) =>
      verbs.flatMap((verb) =>
        apiGroups.flatMap((group) => resources.map((resource) => `${verb} ${group}/${resource}`)),
      ),
    );
  return [...new Set(rights)].sort();
}

const own = () => cluster.audited().filter(({ user }) => user.username === account);

const resourceOf = ({ resource, subresource }: { resource: string; subresource?: string }): string =>
  subresource === undefined ? resource : `${resource}/${subresource}`;

function used(): string[] {
  const rights = own().flatMap(({ verb, objectRef }) =>
    objectRef ? [`${verb} ${objectRef.apiGroup ?? ''}/${resourceOf(objectRef)}`] : [],
  );
  return [...new Set(rights)].sort();
}

/** Calls cni-gate for a namespace that does not exist, which the API server never does. cni-gate then sends a GET. */
async function askAboutUnknownNamespace(): Promise<void> {
  const review = reviewOf(
    { metadata: { name: 'x' }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    { namespace: 'nowhere' },
  );
  const call = request(`https://${replicas[0]?.pod.status.podIP}:8443/mutate`, {
    method: 'POST',
    agent: false,
    rejectUnauthorized: false,
    headers: { 'content-type': 'application/json' },
  });
  await exchange(call, JSON.stringify(review));
}

/** Empties the Secret of the certificate. cni-gate repairs it with an update. */
async function emptySecret(): Promise<void> {
  const path = '/api/v1/namespaces/cni-gate/secrets';
  await cluster.api.patch(`${path}/cni-gate-tls`, { data: { 'tls.crt': '', 'tls.key': '' } });
  await cluster.api.until<{ data: Record<string, string> }>(
    `${path}?fieldSelector=metadata.name%3Dcni-gate-tls`,
    ({ data }) => data['tls.crt'] !== '',
  );
}

/** Creates workloads of each kind, fails the proofs of their pods, and waits until all of the pods are replaced. */
async function useRepair(): Promise<void> {
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
  const placed = (kind: string, not = ''): Promise<RepairedPod> =>
    cluster.api.until<RepairedPod>(
      `/api/v1/namespaces/shop/pods?labelSelector=app%3Dfailing`,
      ({ metadata, spec }) =>
        spec.nodeName && metadata.ownerReferences?.[0]?.kind === kind && metadata.uid !== not,
    );
  for (const kind of ['ReplicaSet', 'StatefulSet', 'Job']) {
    const pod = await placed(kind);
    await decide(cluster, pod, 95);
    await placed(kind, pod.metadata.uid);
  }
}

interface Pod {
  metadata: { name: string; namespace: string; uid: string };
  spec: { nodeName?: string };
  status: { phase: string };
}

const network = 'kube-system';

/** A pod that prefers n1, which is not ready, is steered away from n1. A pod to which no profile applies is bound. */
async function useTheGate(): Promise<void> {
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
  const onN1 = await agentOn('n1');
  await agentOn('n2');
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
  await bound('shop', 'steered');
  await bound('unmeshed', 'plain');
}

const agentOn = (node: string): Promise<Pod> =>
  cluster.api.until<Pod>(
    `/api/v1/namespaces/${network}/pods?labelSelector=app%3Dcilium&fieldSelector=spec.nodeName%3D${node}`,
    ({ status }) => status.phase === 'Running',
  );

const bound = (where: string, name: string): Promise<Pod> =>
  cluster.api.until<Pod>(
    `/api/v1/namespaces/${where}/pods?fieldSelector=metadata.name%3D${name}`,
    ({ spec }) => spec.nodeName !== undefined,
  );
