import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { V1MutatingWebhook, V1PodStatus } from '@kubernetes/client-node';
import {
  certificatesLabel,
  certificatesLabelValue,
  eventReasons,
  eventReporter,
  profileLabel,
} from '../../webhook/lib/names.ts';
import { microTime } from '../../webhook/lib/time-text.ts';
import { Api } from './harness/api.ts';
import { Cluster } from './harness/cluster.ts';
import { eventually } from './harness/eventually.ts';
import { apply, byPolicy, namespace, pod } from './installed/overlay.ts';

/*
 * The policy has to hold our service account to its fields even where somebody gives it every right there is: here
 * it is an administrator, so that nothing but the policy can refuse.
 */

const policy = 'service-account.cni-gate.io';
const webhooks = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
const secrets = (where: string): string => `/api/v1/namespaces/${where}/secrets`;

const refused = (attempt: Promise<unknown>): Promise<void> =>
  assert.rejects(attempt, (error: unknown) => byPolicy(error, policy));

const cluster = await Cluster.start();
after(() => cluster.stop());
await apply(cluster, 'strict');
await cluster.kubectl([
  ...['create', 'clusterrolebinding', 'too-much', '--clusterrole=cluster-admin'],
  '--serviceaccount=cni-gate:cni-gate',
]);
const api = new Api(await cluster.serviceAccount('cni-gate', 'cni-gate'));
after(() => api.close());
const { certificate, key } = await cluster.authority.serving(['cni-gate.cni-gate.svc']);
const base64 = (text: string): string => Buffer.from(text).toString('base64');
// a policy and a role count a moment after they are stored; nobody tells
await eventually(() => refused(api.post('/api/v1/namespaces?dryRun=All', namespace('probe'))));

await cluster.kubectl(['apply', '-f', '-'], {
  input: [
    namespace('shop', { [profileLabel]: 'cilium' }),
    namespace('plain'),
    namespace('declined', { [profileLabel]: 'none' }),
  ],
});

interface Webhook {
  name: string;
  clientConfig: Record<string, unknown>;
  [field: string]: unknown;
}

interface Registration {
  metadata: Record<string, unknown>;
  webhooks: Webhook[];
}

/** Our webhook configuration with one thing changed, written back by our service account. */
async function change(to: (registration: Registration, webhook: Webhook) => void): Promise<unknown> {
  const registration = await cluster.api.get<Registration>(`${webhooks}/cni-gate`);
  const [webhook] = registration.webhooks;
  assert.ok(webhook);
  to(registration, webhook);
  return api.put(`${webhooks}/cni-gate`, registration);
}

const secret = (name: string, metadata: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/tls',
  metadata: { name, labels: { [certificatesLabel]: certificatesLabelValue }, ...metadata },
  data: { 'tls.crt': base64(certificate), 'tls.key': base64(key) },
});

test('the caBundle may change', async () => {
  const caBundle = base64(cluster.authority.pair.certificate);
  await change((_, webhook) => {
    webhook.clientConfig.caBundle = caBundle;
  });
  const { webhooks: stored } = await cluster.api.get<Registration>(`${webhooks}/cni-gate`);
  assert.equal(stored[0]?.clientConfig.caBundle, caBundle);
});

/** For each field of a webhook another value that the API server would take. */
const others: Record<string, unknown> = {
  admissionReviewVersions: ['v1', 'v1beta1'],
  clientConfig: { url: 'https://elsewhere.example/mutate' },
  failurePolicy: 'Ignore',
  matchConditions: [{ name: 'never', expression: 'false' }],
  matchPolicy: 'Exact',
  name: 'other.cni-gate.io',
  namespaceSelector: {},
  objectSelector: { matchLabels: { a: 'b' } },
  reinvocationPolicy: 'Never',
  rules: [{ apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], operations: ['*'] }],
  sideEffects: 'NoneOnDryRun',
  timeoutSeconds: 30,
};

test('of a webhook every field that Kubernetes knows is tried', () => {
  const known = V1MutatingWebhook.getAttributeTypeMap().map(({ baseName }) => baseName);
  assert.deepEqual(Object.keys(others).sort(), known.sort());
});

for (const [field, value] of Object.entries(others)) {
  test(`${field} of the webhook may not change`, async () => {
    await refused(
      change((_, webhook) => {
        webhook[field] = value;
      }),
    );
  });
}

test('the Service that is called may not change', async () => {
  await refused(
    change((_, webhook) => {
      webhook.clientConfig.service = { namespace: 'elsewhere', name: 'cni-gate', path: '/mutate', port: 443 };
    }),
  );
});

const metadata: Record<string, unknown> = {
  annotations: { a: 'b' },
  finalizers: ['example.com/never'],
  labels: {},
  ownerReferences: [
    { apiVersion: 'v1', kind: 'Namespace', name: 'x', uid: '00000000-0000-0000-0000-000000000000' },
  ],
};

for (const [field, value] of Object.entries(metadata)) {
  test(`${field} of the webhook's configuration may not change`, async () => {
    await refused(
      change((registration) => {
        registration.metadata[field] = value;
      }),
    );
  });
}

test('no webhook may go, and none may come', async () => {
  await refused(
    change((registration) => {
      registration.webhooks = [];
    }),
  );
  await refused(
    change((registration, webhook) => {
      registration.webhooks = [webhook, { ...webhook, name: 'more.cni-gate.io' }];
    }),
  );
});

test('no configuration may be deleted or made, and no other changed', async () => {
  await refused(api.delete(`${webhooks}/cni-gate`));
  const { metadata: _, ...rest } = await cluster.api.get<Registration>(`${webhooks}/cni-gate`);
  const other = { apiVersion: 'admissionregistration.k8s.io/v1', ...rest, metadata: { name: 'other' } };
  await refused(api.post(webhooks, other));
  await cluster.api.post(webhooks, other);
  await refused(api.patch(`${webhooks}/other`, { metadata: { labels: { a: 'b' } } }));
  await cluster.api.delete(`${webhooks}/other`);
});

test('of the validating webhooks the caBundle may change, and nothing else', async () => {
  const path = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/cni-gate';
  const changed = async (to: (webhook: Webhook) => void): Promise<unknown> => {
    const registration = await cluster.api.get<Registration>(path);
    registration.webhooks.forEach(to);
    return api.put(path, registration);
  };
  await changed((webhook) => {
    webhook.clientConfig.caBundle = base64(cluster.authority.pair.certificate);
  });
  for (const field of ['failurePolicy', 'namespaceSelector', 'rules', 'timeoutSeconds']) {
    await refused(
      changed((webhook) => {
        webhook[field] = field === 'failurePolicy' ? 'Fail' : others[field];
      }),
    );
  }
  await refused(api.delete(path));
});

test('a node may be named for a pod, and nothing else of the pod may change', async () => {
  const pods = '/api/v1/namespaces/shop/pods';
  await hold('shop', 'held');
  await api.patch(`${pods}/held/status`, { status: { nominatedNodeName: 'n1' } });
  const stored = await cluster.api.get<{ status: { nominatedNodeName?: string } }>(`${pods}/held`);
  assert.equal(stored.status.nominatedNodeName, 'n1');
  const conditions = [{ type: 'Ready', status: 'True' }];
  const others: object[] = [
    ...[{ phase: 'Running' }, { conditions }, { podIP: '10.0.0.1' }, { message: 'a' }, { reason: 'b' }].map(
      (status) => ({ status }),
    ),
    { status: { startTime: new Date().toISOString() } },
    { status: { observedGeneration: 77 } },
    { status: { allocatedResources: { cpu: '5' } } },
    { status: { resources: { requests: { cpu: '5' } } } },
    {
      status: { containerStatuses: [{ name: 'web', image: '', imageID: '', ready: true, restartCount: 0 }] },
    },
    { metadata: { labels: { a: 'b' } } },
    { metadata: { annotations: { a: 'b' } } },
    { metadata: { generateName: 'other-' } },
  ];
  const unknown: object[] = [];
  for (const other of others) {
    if (await changesNothing(`${pods}/held/status`, other)) unknown.push(other);
    else
      await assert.rejects(
        api.patch(`${pods}/held/status`, other),
        (error: unknown) => byPolicy(error, policy),
        JSON.stringify(other),
      );
  }
  // fields that came after 1.30, the oldest version that is supported
  const { minor } = await cluster.api.get<{ minor: string }>('/version');
  assert.ok(unknown.length <= (Number.parseInt(minor, 10) < 35 ? 3 : 0), JSON.stringify(unknown));
  await refused(api.patch(`${pods}/held`, { metadata: { labels: { a: 'b' } } }));
  await refused(api.delete(`${pods}/held`));
});

test('a node may be named only for a pod that the gate holds', async () => {
  const nominate = (where: string, name: string): Promise<unknown> =>
    api.patch(`/api/v1/namespaces/${where}/pods/${name}/status`, { status: { nominatedNodeName: 'n1' } });
  for (const where of ['plain', 'declined']) {
    await hold(where, 'elsewhere');
    await refused(nominate(where, 'elsewhere'));
  }
  await hold('shop', 'unlabelled', { labels: {} });
  await refused(nominate('shop', 'unlabelled'));
  await hold('shop', 'too-large', { message: '0/2 nodes are available: 2 Insufficient cpu.' });
  await refused(nominate('shop', 'too-large'));
  await hold('shop', 'scheduled', { status: 'True' });
  await refused(nominate('shop', 'scheduled'));
});

test("of a pod's status every field that Kubernetes knows is held, but the one", async () => {
  const path = `/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/${policy}`;
  const { spec } = await cluster.api.get<{ spec: { validations: { expression: string }[] } }>(path);
  const text = spec.validations.map(({ expression }) => expression).join('\n');
  const known = V1PodStatus.getAttributeTypeMap().map(({ baseName }) => baseName);
  assert.deepEqual(
    known.filter((field) => !text.includes(`object.status.?${field} == oldObject.status.?${field}`)),
    ['nominatedNodeName'],
  );
});

interface ManagedFields {
  manager?: string;
  operation?: string;
}

test('who owns which field of a pod stays as it is: the API server takes no managedFields with a status', async () => {
  const path = '/api/v1/namespaces/shop/pods/owned';
  const owners = async (): Promise<string[]> => {
    const { metadata } = await cluster.api.get<{ metadata: { managedFields?: ManagedFields[] } }>(path);
    return (metadata.managedFields ?? []).map((entry) => JSON.stringify(entry)).sort();
  };
  await hold('shop', 'owned');
  const before = await owners();
  assert.ok(before.length > 0);
  const another = {
    manager: 'kubelet',
    operation: 'Update',
    apiVersion: 'v1',
    fieldsType: 'FieldsV1',
    fieldsV1: {},
  };
  for (const [index, managedFields] of [[{}], [], [another]].entries()) {
    const status = { nominatedNodeName: `n${index}` };
    await api.patch(`${path}/status?fieldManager=cni-gate`, { metadata: { managedFields }, status });
    const now = await owners();
    assert.deepEqual(
      before.filter((entry) => !now.includes(entry)),
      [],
    );
    // and that of the account itself
    assert.equal(now.length, before.length + 1);
  }
});

test('a pod may not be bound, evicted or given a container', async () => {
  const path = '/api/v1/namespaces/shop/pods/still';
  await hold('shop', 'still');
  const target = { apiVersion: 'v1', kind: 'Node', name: 'n1' };
  await refused(api.post(`${path}/binding`, { metadata: { name: 'still' }, target }));
  await refused(
    api.post(`${path}/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'still' } }),
  );
  await refused(
    api.patch(`${path}/ephemeralcontainers`, {
      spec: { ephemeralContainers: [{ name: 'more', image: 'example/web' }] },
    }),
  );
});

interface HeldPod {
  labels?: Record<string, string>;
  /** Of its condition PodScheduled. */
  status?: string;
  message?: string;
}

/** Makes a pod as the scheduler leaves one that the gate refused. */
async function hold(
  where: string,
  name: string,
  { labels, status = 'False', message }: HeldPod = {},
): Promise<void> {
  const pods = `/api/v1/namespaces/${where}/pods`;
  const metadata = { labels: labels ?? { [profileLabel]: 'cilium' } };
  // the policy over pods wants the proof, which nobody injects here
  await eventually(() =>
    cluster.api.post(pods, pod(name, { schedulerName: 'nobody', hostNetwork: true }, metadata)),
  );
  const refusal = 'admission webhook "bindings.cni-gate.io" denied the request: node n1 is not ready';
  const condition = { type: 'PodScheduled', status, reason: 'SchedulerError', message: message ?? refusal };
  await cluster.api.patch(`${pods}/${name}/status`, { status: { conditions: [condition] } });
}

/** Whether a patch by an administrator leaves the pod as it is: an older API server does not know the field. */
async function changesNothing(path: string, patch: object): Promise<boolean> {
  const { metadata: _, ...before } = await cluster.api.get<{ metadata: object }>(path);
  const after = await cluster.api.patch<{ metadata: object }>(`${path}?dryRun=All`, patch);
  const { metadata: __, ...rest } = after;
  return !('metadata' in patch) && isDeepStrictEqual(before, rest);
}

test('events may tell of pods that are held, and of nothing else, in no other name', async () => {
  const events = '/apis/events.k8s.io/v1/namespaces/default/events';
  const event = (name: string, more: { metadata?: object; [field: string]: unknown } = {}): object => ({
    eventTime: microTime(new Date()),
    type: 'Normal',
    reason: eventReasons.nominated,
    action: 'Nominate',
    note: 'node n1 is nominated',
    regarding: { apiVersion: 'v1', kind: 'Pod', namespace: 'default', name: 'held' },
    reportingController: eventReporter,
    reportingInstance: 'a',
    ...more,
    metadata: { name, ...more.metadata },
  });
  const held = { type: 'Warning', reason: eventReasons.heldForLong };
  const series = { count: 2, lastObservedTime: microTime(new Date()) };
  await api.post(events, event('nominated'));
  await api.post(events, event('held', held));
  const others: [field: string, value: Parameters<typeof event>[1]][] = [
    ['reportingController', { reportingController: 'kubernetes.io/kubelet' }],
    ['reason', { reason: 'Killing' }],
    ['type', { ...held, type: 'Normal' }],
    ['kind', { regarding: { apiVersion: 'v1', kind: 'Service', namespace: 'default', name: 'held' } }],
    ['nothing', { regarding: { namespace: 'default' } }],
    ['series', { series }],
    ...Object.entries({ ...metadata, labels: { a: 'b' } }).map(
      ([field, value]): [string, { metadata: object }] => [field, { metadata: { [field]: value } }],
    ),
  ];
  for (const [index, [field, value]] of others.entries()) {
    await assert.rejects(
      api.post(events, event(`other-${index}`, value)),
      (error: unknown) => byPolicy(error, policy),
      field,
    );
  }
  await refused(api.patch(`${events}/held`, { series }));
  await refused(api.delete(`${events}/held`));
  const source = {
    involvedObject: { kind: 'Pod', namespace: 'default', name: 'held' },
    source: { component: 'a' },
  };
  await refused(
    api.post('/api/v1/namespaces/default/events', { metadata: { name: 'older' }, ...source, type: 'Normal' }),
  );
});

test('one Lease may be made and held', async () => {
  const leases = (where: string): string => `/apis/coordination.k8s.io/v1/namespaces/${where}/leases`;
  const lease = (name: string): object => ({ metadata: { name }, spec: { holderIdentity: 'a' } });
  await api.post(leases('cni-gate'), lease('cni-gate-leader'));
  await api.patch(`${leases('cni-gate')}/cni-gate-leader`, { spec: { holderIdentity: 'b' } });
  await refused(api.delete(`${leases('cni-gate')}/cni-gate-leader`));
  await refused(api.post(leases('cni-gate'), lease('other')));
  await refused(api.post(leases('default'), lease('cni-gate-leader')));
});

test('the Secret may be made and its data changed', async () => {
  await api.post(secrets('cni-gate'), secret('cni-gate-tls'));
  await api.patch(`${secrets('cni-gate')}/cni-gate-tls`, { data: { more: base64('x') } });
});

test('of the Secret nothing else may change, and it may not go', async () => {
  const path = `${secrets('cni-gate')}/cni-gate-tls`;
  for (const [field, value] of Object.entries({ ...metadata, labels: { a: 'b' } })) {
    await refused(api.patch(path, { metadata: { [field]: value } }));
  }
  await refused(api.patch(path, { immutable: true }));
  await refused(api.delete(path));
});

test('what somebody else wrote onto the Secret stays, and may not be taken away', async () => {
  const path = `${secrets('cni-gate')}/cni-gate-tls`;
  await cluster.api.patch(path, { metadata: { labels: { team: 'edge' }, annotations: { note: 'kept' } } });
  await api.patch(path, { data: { more: base64('y') } });
  await refused(api.patch(path, { metadata: { labels: { [certificatesLabel]: null } } }));
  await refused(api.patch(path, { metadata: { labels: { team: null } } }));
  await refused(api.patch(path, { metadata: { annotations: { note: null } } }));
});

test('no other Secret may be made, by name, namespace or type', async () => {
  await refused(api.post(secrets('cni-gate'), secret('other')));
  await refused(api.post(secrets('default'), secret('cni-gate-tls')));
  await cluster.api.delete(`${secrets('cni-gate')}/cni-gate-tls`);
  await refused(api.post(secrets('cni-gate'), { ...secret('cni-gate-tls'), type: 'Opaque' }));
  const token = { 'kubernetes.io/service-account.name': 'default' };
  await refused(
    api.post(secrets('cni-gate'), {
      ...secret('cni-gate-tls', { annotations: token }),
      type: 'kubernetes.io/service-account-token',
      data: {},
    }),
  );
});

test('nothing else at all may be written', async () => {
  await refused(api.post('/api/v1/namespaces', namespace('more')));
  await refused(api.post('/api/v1/namespaces/default/pods', pod('more')));
  await refused(api.patch('/api/v1/namespaces/default', { metadata: { labels: { a: 'b' } } }));
  await refused(
    api.patch('/api/v1/namespaces/cni-gate/configmaps/cni-gate', { data: { 'config.yaml': '' } }),
  );
  await refused(
    api.patch('/apis/apps/v1/namespaces/cni-gate/deployments/cni-gate/scale', { spec: { replicas: 9 } }),
  );
  await refused(api.post('/api/v1/namespaces/cni-gate/serviceaccounts/cni-gate/token', {}));
  await refused(
    api.patch('/apis/rbac.authorization.k8s.io/v1/clusterroles/cni-gate', {
      metadata: { labels: { a: 'b' } },
    }),
  );
});

test('to ask about rights is allowed: it changes nothing', async () => {
  const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview' };
  const attributes = { verb: 'get', resource: 'pods' };
  await api.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', {
    ...review,
    spec: { resourceAttributes: attributes },
  });
});

test('others are not held by it', async () => {
  await cluster.api.patch('/api/v1/namespaces/default', { metadata: { labels: { a: 'b' } } });
});

test('the API server finds no fault in the expressions of both policies', async () => {
  for (const name of [policy, 'pods.cni-gate.io']) {
    const path = `/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies?fieldSelector=metadata.name%3D${name}`;
    const { status } = await cluster.api.until<{
      status?: { typeChecking?: { expressionWarnings?: unknown } };
    }>(path, (found) => found.status?.typeChecking);
    assert.equal(status?.typeChecking?.expressionWarnings, undefined);
  }
});
