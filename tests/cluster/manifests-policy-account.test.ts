import assert from 'node:assert/strict';
import { test } from 'node:test';
import { V1MutatingWebhook, V1PodStatus } from '@kubernetes/client-node';
import {
  certificatesLabel,
  certificatesLabelValue,
  eventReasons,
  eventReporter,
  profileLabel,
} from '../../webhook/lib/names.ts';
import { microTime } from '../../webhook/lib/time-text.ts';
import { eventually } from './harness/eventually.ts';
import { namespace, pod } from './harness/objects.ts';
import { metadata, policy, refused, startWithTooMuch } from './installed/account.ts';

/* The policy limits our service account, although it has every right. Repair has its own test file. */

const webhooks = '/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations';
const secrets = (where: string): string => `/api/v1/namespaces/${where}/secrets`;

const { cluster, api } = await startWithTooMuch();
const { certificate, key } = await cluster.authority.serving(['cni-gate.cni-gate.svc']);
const base64 = (text: string): string => Buffer.from(text).toString('base64');

interface Webhook {
  name: string;
  clientConfig: Record<string, unknown>;
  [field: string]: unknown;
}

interface Registration {
  metadata: Record<string, unknown>;
  webhooks: Webhook[];
}

/** Reads one of our webhook configurations, changes it, and writes it back as our service account. */
async function change(
  to: (registration: Registration, webhook: Webhook) => unknown,
  at = webhooks,
): Promise<unknown> {
  const registration = await cluster.api.get<Registration>(`${at}/cni-gate`);
  const [webhook] = registration.webhooks;
  assert.ok(webhook);
  to(registration, webhook);
  return api.put(`${at}/cni-gate`, registration);
}

/** Writes one of our webhook configurations back with other fields in each webhook. */
const changeFields = (fields: object, at?: string): Promise<unknown> =>
  change(({ webhooks: all }) => all.map((webhook) => Object.assign(webhook, fields)), at);

/** Writes one of our webhook configurations back with other fields in each webhook's `clientConfig`. */
const changeClient = (fields: object, at?: string): Promise<unknown> =>
  change(({ webhooks: all }) => all.map(({ clientConfig }) => Object.assign(clientConfig, fields)), at);

const secret = (name: string, metadata: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Secret',
  type: 'kubernetes.io/tls',
  metadata: { name, labels: { [certificatesLabel]: certificatesLabelValue }, ...metadata },
  data: { 'tls.crt': base64(certificate), 'tls.key': base64(key) },
});

test('the caBundle may change', async () => {
  const caBundle = base64(cluster.authority.pair.certificate);
  await changeClient({ caBundle });
  const { webhooks: stored } = await cluster.api.get<Registration>(`${webhooks}/cni-gate`);
  assert.equal(stored[0]?.clientConfig.caBundle, caBundle);
});

/** For each field of a webhook, a value other than ours that the API server would accept. */
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

test('the cases below cover every field of a webhook', () => {
  const known = V1MutatingWebhook.getAttributeTypeMap().map(({ baseName }) => baseName);
  assert.deepEqual(Object.keys(others).sort(), known.sort());
});

for (const [field, value] of Object.entries(others)) {
  test(`${field} of the webhook may not change`, () => refused(changeFields({ [field]: value })));
}

test('the Service that is called may not change', async () => {
  const service = { namespace: 'elsewhere', name: 'cni-gate', path: '/mutate', port: 443 };
  await refused(changeClient({ service }));
});

for (const [field, value] of Object.entries(metadata)) {
  test(`${field} of the webhook's configuration may not change`, () =>
    refused(change((registration) => Object.assign(registration.metadata, { [field]: value }))));
}

test('no webhook may be removed or added', async () => {
  const setAll = (all: (webhook: Webhook) => Webhook[]): Promise<unknown> =>
    change((registration, webhook) => Object.assign(registration, { webhooks: all(webhook) }));
  await refused(setAll(() => []));
  await refused(setAll((webhook) => [webhook, { ...webhook, name: 'more.cni-gate.io' }]));
});

test('no configuration may be deleted or created, and no other changed', async () => {
  await refused(api.delete(`${webhooks}/cni-gate`));
  const { metadata: _, ...rest } = await cluster.api.get<Registration>(`${webhooks}/cni-gate`);
  const other = { apiVersion: 'admissionregistration.k8s.io/v1', ...rest, metadata: { name: 'other' } };
  await refused(api.post(webhooks, other));
  await cluster.api.post(webhooks, other);
  await refused(api.patch(`${webhooks}/other`, { metadata: { labels: { a: 'b' } } }));
  await cluster.api.delete(`${webhooks}/other`);
});

test('in the validating webhooks, only the caBundle may change', async () => {
  const validating = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  await changeClient({ caBundle: base64(cluster.authority.pair.certificate) }, validating);
  const { namespaceSelector, rules, timeoutSeconds } = others;
  for (const fields of [{ failurePolicy: 'Fail' }, { namespaceSelector }, { rules }, { timeoutSeconds }])
    await refused(changeFields(fields, validating));
  await refused(api.delete(`${validating}/cni-gate`));
});

test('one Lease may be created and renewed', async () => {
  const leases = (where: string): string => `/apis/coordination.k8s.io/v1/namespaces/${where}/leases`;
  const lease = (name: string): object => ({ metadata: { name }, spec: { holderIdentity: 'a' } });
  await api.post(leases('cni-gate'), lease('cni-gate-leader'));
  await api.patch(`${leases('cni-gate')}/cni-gate-leader`, { spec: { holderIdentity: 'b' } });
  await refused(api.delete(`${leases('cni-gate')}/cni-gate-leader`));
  await refused(api.post(leases('cni-gate'), lease('other')));
  await refused(api.post(leases('default'), lease('cni-gate-leader')));
});

test('the Secret may be created and its data changed', async () => {
  await api.post(secrets('cni-gate'), secret('cni-gate-tls'));
  await api.patch(`${secrets('cni-gate')}/cni-gate-tls`, { data: { more: base64('x') } });
});

test('nothing else of the Secret may change, and it may not be deleted', async () => {
  const path = `${secrets('cni-gate')}/cni-gate-tls`;
  for (const [field, value] of Object.entries({ ...metadata, labels: { a: 'b' } })) {
    await refused(api.patch(path, { metadata: { [field]: value } }));
  }
  await refused(api.patch(path, { immutable: true }));
  await refused(api.delete(path));
});

test('labels and annotations that others set on the Secret may not be removed', async () => {
  const path = `${secrets('cni-gate')}/cni-gate-tls`;
  await cluster.api.patch(path, { metadata: { labels: { team: 'edge' }, annotations: { note: 'kept' } } });
  await api.patch(path, { data: { more: base64('y') } });
  await refused(api.patch(path, { metadata: { labels: { [certificatesLabel]: null } } }));
  await refused(api.patch(path, { metadata: { labels: { team: null } } }));
  await refused(api.patch(path, { metadata: { annotations: { note: null } } }));
});

test('no Secret with another name, namespace or type may be created', async () => {
  await refused(api.post(secrets('cni-gate'), secret('other')));
  await refused(api.post(secrets('default'), secret('cni-gate-tls')));
  await cluster.api.delete(`${secrets('cni-gate')}/cni-gate-tls`);
  await refused(api.post(secrets('cni-gate'), { ...secret('cni-gate-tls'), type: 'Opaque' }));
  const token = { 'kubernetes.io/service-account.name': 'default' };
  const ofToken = { type: 'kubernetes.io/service-account-token', data: {} };
  await refused(
    api.post(secrets('cni-gate'), { ...secret('cni-gate-tls', { annotations: token }), ...ofToken }),
  );
});

test('nothing else at all may be written', async () => {
  const labels = { metadata: { labels: { a: 'b' } } };
  const home = '/api/v1/namespaces/cni-gate';
  const scale = '/apis/apps/v1/namespaces/cni-gate/deployments/cni-gate/scale';
  await refused(api.post('/api/v1/namespaces', namespace('more')));
  await refused(api.post('/api/v1/namespaces/default/pods', pod('more')));
  await refused(api.patch('/api/v1/namespaces/default', labels));
  await refused(api.patch(`${home}/configmaps/cni-gate`, { data: { 'config.yaml': '' } }));
  await refused(api.patch(scale, { spec: { replicas: 9 } }));
  await refused(api.post(`${home}/serviceaccounts/cni-gate/token`, {}));
  await refused(api.patch('/apis/rbac.authorization.k8s.io/v1/clusterroles/cni-gate', labels));
});

test('access reviews are allowed: they change nothing', async () => {
  const spec = { resourceAttributes: { verb: 'get', resource: 'pods' } };
  await api.post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { spec });
});

test('the policy does not limit other users', async () => {
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

/* Nominations of nodes for held pods, and events about held pods. */

test('a node may be nominated for a pod, and no other field of the pod may change', async () => {
  const pods = '/api/v1/namespaces/shop/pods';
  await hold('shop', 'held');
  await api.patch(`${pods}/held/status`, { status: { nominatedNodeName: 'n1' } });
  const stored = await cluster.api.get<{ status: { nominatedNodeName?: string } }>(`${pods}/held`);
  assert.equal(stored.status.nominatedNodeName, 'n1');
  const others: object[] = [
    ...[{ phase: 'Running' }, { podIP: '10.0.0.1' }, { message: 'a' }].map((status) => ({ status })),
    ...[{ labels: { a: 'b' } }, { annotations: { a: 'b' } }, { generateName: 'other-' }].map((metadata) => ({
      metadata,
    })),
  ];
  for (const other of others) await refused(api.patch(`${pods}/held/status`, other), JSON.stringify(other));
  await refused(api.patch(`${pods}/held`, { metadata: { labels: { a: 'b' } } }));
  await refused(api.delete(`${pods}/held`));
});

test('a node may be nominated only for a pod that the gate holds', async () => {
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

test("the policy compares every field of a pod's status except nominatedNodeName", async () => {
  const path = `/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/${policy}`;
  const { spec } = await cluster.api.get<{ spec: { validations: { expression: string }[] } }>(path);
  const text = spec.validations.map(({ expression }) => expression).join('\n');
  const known = V1PodStatus.getAttributeTypeMap().map(({ baseName }) => baseName);
  assert.deepEqual(
    known.filter((field) => !text.includes(`object.status.?${field} == oldObject.status.?${field}`)),
    ['nominatedNodeName'],
  );
});

test('a pod may not be bound or evicted, and gets no ephemeral container', async () => {
  const path = '/api/v1/namespaces/shop/pods/still';
  await hold('shop', 'still');
  const metadata = { name: 'still' };
  const target = { apiVersion: 'v1', kind: 'Node', name: 'n1' };
  await refused(api.post(`${path}/binding`, { metadata, target }));
  await refused(api.post(`${path}/eviction`, { apiVersion: 'policy/v1', kind: 'Eviction', metadata }));
  const ephemeralContainers = [{ name: 'more', image: 'example/web' }];
  await refused(api.patch(`${path}/ephemeralcontainers`, { spec: { ephemeralContainers } }));
});

interface HeldPod {
  labels?: Record<string, string>;
  /** The status of the pod's condition `PodScheduled`. */
  status?: string;
  message?: string;
}

async function hold(
  where: string,
  name: string,
  { labels, status = 'False', message }: HeldPod = {},
): Promise<void> {
  const pods = `/api/v1/namespaces/${where}/pods`;
  const metadata = { labels: labels ?? { [profileLabel]: 'cilium' } };
  // on the host network, because other pods need a proof (policy over pods), which no replica injects here
  await eventually(() =>
    cluster.api.post(pods, pod(name, { schedulerName: 'nobody', hostNetwork: true }, metadata)),
  );
  const refusal = 'admission webhook "bindings.cni-gate.io" denied the request: node n1 is not ready';
  const condition = { type: 'PodScheduled', status, reason: 'SchedulerError', message: message ?? refusal };
  await cluster.api.patch(`${pods}/${name}/status`, { status: { conditions: [condition] } });
}

test('events may be only about pods and controllers, and only with our names', async () => {
  const events = '/apis/events.k8s.io/v1/namespaces/default/events';
  const { nominated, duplicateAddress, recreated, wouldRecreate, notRecreated, lost, recovered } =
    eventReasons;
  const about = (kind: string, apiVersion = 'v1') => ({
    regarding: { apiVersion, kind, namespace: 'default', name: 'web' },
  });
  const deployment = about('Deployment', 'apps/v1');
  const warning = { type: 'Warning' };
  let count = 0;
  const post = (reason: string, more: { metadata?: object; [field: string]: unknown } = {}) => {
    count += 1;
    return api.post(events, {
      eventTime: microTime(new Date()),
      type: 'Normal',
      reason,
      action: 'Nominate',
      note: 'node n1 is nominated',
      ...about('Pod'),
      reportingController: eventReporter,
      reportingInstance: 'a',
      ...more,
      metadata: { name: `event-${count}`, ...more.metadata },
    });
  };
  const series = { count: 2, lastObservedTime: microTime(new Date()) };
  await post(nominated);
  await post(duplicateAddress, warning);
  await post(recreated);
  await post(wouldRecreate, deployment);
  await post(notRecreated, { ...about('Job', 'batch/v1'), ...warning });
  await post(recreated, about('ReplicationController'));
  await post(lost, warning);
  await post(recovered);
  const others: Parameters<typeof post>[] = [
    [nominated, { reportingController: 'kubernetes.io/kubelet' }],
    ['Killing'],
    [duplicateAddress],
    [nominated, about('Service')],
    [nominated, { regarding: { namespace: 'default' } }],
    [nominated, { series }],
    [nominated, deployment],
    [lost, { ...deployment, ...warning }],
    [recreated, about('Service')],
    [notRecreated, deployment],
    ...Object.entries({ ...metadata, labels: { a: 'b' } }).map(
      ([field, value]): Parameters<typeof post> => [nominated, { metadata: { [field]: value } }],
    ),
  ];
  for (const other of others) await refused(post(...other), JSON.stringify(other));
  await refused(api.patch(`${events}/event-1`, { series }));
  await refused(api.delete(`${events}/event-1`));
  const involvedObject = { kind: 'Pod', namespace: 'default', name: 'web' };
  const older = { metadata: { name: 'older' }, involvedObject, source: { component: 'a' }, type: 'Normal' };
  await refused(api.post('/api/v1/namespaces/default/events', older));
});
