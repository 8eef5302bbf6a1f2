import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { V1PodStatus } from '@kubernetes/client-node';
import { eventReasons, eventReporter, profileLabel } from '../../webhook/lib/names.ts';
import { microTime } from '../../webhook/lib/time-text.ts';
import { eventually } from './harness/eventually.ts';
import { pod } from './harness/objects.ts';
import { metadata, policy, refused, startWithTooMuch } from './installed/account.ts';

/* The policy has to hold our service account, with every right there is, to nominations and to events of held pods. */

const { cluster, api } = await startWithTooMuch();

test('a node may be nominated for a pod, and no other field of the pod may change', async () => {
  const pods = '/api/v1/namespaces/shop/pods';
  await hold('shop', 'held');
  await api.patch(`${pods}/held/status`, { status: { nominatedNodeName: 'n1' } });
  const stored = await cluster.api.get<{ status: { nominatedNodeName?: string } }>(`${pods}/held`);
  assert.equal(stored.status.nominatedNodeName, 'n1');
  const conditions = [{ type: 'Ready', status: 'True' }];
  const containerStatuses = [{ name: 'web', image: '', imageID: '', ready: true, restartCount: 0 }];
  const statuses = [
    ...[{ phase: 'Running' }, { conditions }, { podIP: '10.0.0.1' }, { message: 'a' }, { reason: 'b' }],
    ...[{ startTime: new Date().toISOString() }, { observedGeneration: 77 }, { containerStatuses }],
    ...[{ allocatedResources: { cpu: '5' } }, { resources: { requests: { cpu: '5' } } }],
  ];
  const others: object[] = [
    ...statuses.map((status) => ({ status })),
    ...[{ labels: { a: 'b' } }, { annotations: { a: 'b' } }, { generateName: 'other-' }].map((metadata) => ({
      metadata,
    })),
  ];
  const unknown: object[] = [];
  for (const other of others) {
    if (await changesNothing(`${pods}/held/status`, other)) unknown.push(other);
    else await refused(api.patch(`${pods}/held/status`, other), JSON.stringify(other));
  }
  // fields that came after 1.30, the oldest version that is supported
  const { minor } = await cluster.api.get<{ minor: string }>('/version');
  assert.ok(unknown.length <= (Number.parseInt(minor, 10) < 35 ? 3 : 0), JSON.stringify(unknown));
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

test("the policy compares every field of a pod's status but nominatedNodeName", async () => {
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

test('field ownership of a pod cannot be changed: the API server ignores managedFields of a status', async () => {
  const path = '/api/v1/namespaces/shop/pods/owned';
  const owners = async (): Promise<string[]> => {
    const { metadata } = await cluster.api.get<{ metadata: { managedFields?: ManagedFields[] } }>(path);
    return (metadata.managedFields ?? []).map((entry) => JSON.stringify(entry)).sort();
  };
  await hold('shop', 'owned');
  const before = await owners();
  assert.ok(before.length > 0);
  const fields = { apiVersion: 'v1', fieldsType: 'FieldsV1', fieldsV1: {} };
  const another = { manager: 'kubelet', operation: 'Update', ...fields };
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

test('a pod may not be bound or evicted, and gets no ephemeral container', async () => {
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
  // the policy over pods wants the proof, which is not injected here
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

test('events may be about held pods only, with our names only', async () => {
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
  const held = { type: 'Warning', reason: eventReasons.duplicateAddress };
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
    await refused(api.post(events, event(`other-${index}`, value)), field);
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
