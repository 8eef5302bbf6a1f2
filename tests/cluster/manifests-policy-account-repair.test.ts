import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { eventReasons, eventReporter, profileLabel, releasedAnnotation } from '../../webhook/lib/names.ts';
import { microTime } from '../../webhook/lib/time-text.ts';
import { eventually } from './harness/eventually.ts';
import { addNode } from './harness/nodes.ts';
import { pod } from './harness/objects.ts';
import { policy, refused, startWithTooMuch } from './installed/account.ts';
import { byPolicy } from './installed/overlay.ts';

/* The policy has to hold our service account, with every right there is, to the repair of pods whose proof failed. */

const { cluster, api } = await startWithTooMuch();
await addNode(cluster, 'n1', { kwok: false });
// no replica answers, and the policy over pods wants the proof: pods on a node would be refused
await cluster.kubectl(['delete', 'validatingadmissionpolicybindings', 'pods.cni-gate.io']);
for (const kind of ['mutating', 'validating'])
  await cluster.kubectl(['delete', `${kind}webhookconfigurations`, 'cni-gate']);

const jobLabels = {
  'batch.kubernetes.io/controller-uid': 'u',
  'batch.kubernetes.io/job-name': 'j',
  'controller-uid': 'u',
  'job-name': 'j',
};
const noLabels = Object.fromEntries(Object.keys(jobLabels).map((key) => [key, null]));
const release = { metadata: { labels: noLabels, annotations: { [releasedAnnotation]: 'j' } } };

/** How a run of the proof ended. */
const ended = (exitCode: number): object => ({ terminated: { exitCode } });
const ours = '{"checks":["address"]}';
const foreign = '{"checks":["container"]}';

interface Stored {
  metadata: { name: string; uid: string; resourceVersion: string; labels?: Record<string, string> };
}

interface FailedPod {
  where?: string;
  /** Statuses of the validator: `state` and `lastState`. */
  status?: object;
  /** Whether its other containers have started. */
  runs?: boolean;
  /** Of another init container. */
  container?: string;
  annotation?: string;
  /** Further annotations. */
  annotations?: Record<string, string>;
  labels?: Record<string, string>;
  /** Its controller: `apiVersion Kind`; empty for none. */
  owner?: string;
}

let count = 0;

/** The Pod Security Standard `restricted`. */
const restricted = {
  securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [
    {
      name: 'web',
      image: 'example/web',
      securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    },
  ],
};

/** An owner that exists, as the garbage collector deletes other pods, and whose controller does nothing. */
async function ownerIn(where: string, kind: string): Promise<{ name: string; uid: string }> {
  const paths: Record<string, string> = {
    ConfigMap: `/api/v1/namespaces/${where}/configmaps/kube-root-ca.crt`,
    Node: '/api/v1/nodes/n1',
    Job: '/apis/batch/v1/namespaces/shop/jobs/j',
  };
  const { metadata } = await eventually(() => cluster.api.get<Stored>(paths[kind] ?? ''));
  return { name: metadata.name, uid: metadata.uid };
}

await cluster.api.post('/apis/batch/v1/namespaces/shop/jobs', {
  metadata: { name: 'j' },
  spec: {
    managedBy: 'example.com/nobody',
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'a', image: 'i' }] } },
  },
});

/** Makes a pod whose proof ended in this way. */
async function failed({
  where = 'shop',
  status = { state: ended(95) },
  runs = false,
  container = 'cni-gate-validator',
  annotation = ours,
  annotations = {},
  labels = { [profileLabel]: 'cilium' },
  owner = 'v1 ConfigMap',
}: FailedPod = {}): Promise<Stored> {
  count += 1;
  const name = `failed-${count}`;
  const pods = `/api/v1/namespaces/${where}/pods`;
  const [apiVersion, kind] = owner.split(' ');
  const ownerReferences = kind && [{ apiVersion, kind, ...(await ownerIn(where, kind)), controller: true }];
  const metadata = {
    labels,
    annotations: { 'cni-gate.io/status': annotation, ...annotations },
    ...(ownerReferences && { ownerReferences }),
    finalizers: ['cni-gate.test/kept'],
  };
  // what was deleted above counts for a moment more
  await eventually(() => cluster.api.post(pods, pod(name, { nodeName: 'n1', ...restricted }, metadata)));
  const statuses = [{ name: container, image: 'i', imageID: '', ready: false, restartCount: 0, ...status }];
  const containers = [{ name: 'web', image: 'i', imageID: '', ready: runs, restartCount: 0, started: runs }];
  return cluster.api.patch(`${pods}/${name}/status`, {
    status: { initContainerStatuses: statuses, containerStatuses: containers },
  });
}

/** Deletes it as our account, with the preconditions that repair has. */
const remove = (
  { metadata: { name, uid, resourceVersion } }: Stored,
  { where = 'shop', ...more }: { where?: string; [option: string]: unknown } = {},
): Promise<unknown> =>
  api.request('DELETE', `/api/v1/namespaces/${where}/pods/${name}`, {
    body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion }, ...more },
  });

suite('a pod may be deleted', () => {
  for (const [what, options] of Object.entries<FailedPod>({
    'if its proof failed': {},
    'while the proof is repeated': { status: { state: { running: {} }, lastState: ended(95) } },
    'while the proof waits to be repeated': {
      status: { state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: ended(95) },
    },
    'if it failed after a reboot, and had passed before': {
      status: { state: ended(95), lastState: ended(0) },
    },
    "if Istio's own validator failed": { annotation: foreign, status: { state: ended(126) } },
    'whose proof found out nothing when it was repeated': {
      status: {
        state: { waiting: { reason: 'CrashLoopBackOff' } },
        lastState: ended(69),
        restartCount: 1,
      },
    },
    'whose proof crashed after it had failed': {
      status: { state: ended(137), lastState: ended(95), restartCount: 1 },
    },
    'if it is of a Job': { owner: 'batch/v1 Job' },
  })) {
    test(what, async () => {
      await remove(await failed(options));
    });
  }
});

suite('the token deletes no pod', () => {
  for (const [what, options] of Object.entries<FailedPod>({
    'whose proof passed': { status: { state: ended(0) } },
    'whose proof passed after it had failed': {
      status: { state: ended(0), lastState: ended(95), restartCount: 1 },
    },
    'whose proof passed before a reboot, and is repeated': {
      status: { state: { running: {} }, lastState: ended(0) },
    },
    'whose proof crashed after it had passed': {
      status: { state: ended(137), lastState: ended(0), restartCount: 1 },
    },
    'whose witness was killed while its containers run': {
      status: { state: { running: {} }, lastState: ended(137), restartCount: 2 },
      runs: true,
    },
    'that waits': { status: { state: { waiting: { reason: 'PodInitializing' } } } },
    'whose proof was not possible': { status: { state: ended(69) } },
    'whose proof crashed': { status: { state: ended(137) } },
    'whose proof ended with a code of another validator': { status: { state: ended(126) } },
    'of which another init container failed': { container: 'migrate' },
    "whose network's own validator was called wrongly": { annotation: foreign, status: { state: ended(64) } },
    "whose network's own validator was killed": { annotation: foreign, status: { state: ended(137) } },
    'that has no controller': { owner: '' },
    'that is of a kubelet': { owner: 'v1 Node' },
    'without our label': { labels: {} },
    'in a namespace that did not opt in': { where: 'plain' },
    'in a namespace that opted out': { where: 'declined' },
    'in kube-system': { where: 'kube-system' },
    'in cni-gate': { where: 'cni-gate' },
  })) {
    test(what, async () => {
      const { where = 'shop' } = options;
      await refused(remove(await failed(options), { where }));
    });
  }

  test('without the UID and the version that it judged', async () => {
    const { metadata } = await failed();
    const one = { metadata };
    const { uid, resourceVersion } = metadata;
    for (const preconditions of [undefined, {}, { uid }, { resourceVersion }]) {
      await refused(remove(one, { preconditions }));
    }
    await refused(api.delete(`/api/v1/namespaces/shop/pods/${metadata.name}`));
    await remove(one);
  });

  test('faster than the pod wants', async () => {
    const one = await failed();
    for (const gracePeriodSeconds of [0, 1]) await refused(remove(one, { gracePeriodSeconds }));
    await remove(one, { gracePeriodSeconds: 30 });
  });

  test('by a collection', async () => {
    await failed();
    await refused(api.delete('/api/v1/namespaces/shop/pods'));
  });
});

suite('a pod may be released', () => {
  const pods = '/api/v1/namespaces/shop/pods';
  const ofJob = (more: FailedPod = {}): Promise<Stored> =>
    failed({ owner: 'batch/v1 Job', labels: { [profileLabel]: 'cilium', a: 'b', ...jobLabels }, ...more });

  test('from its Job by its labels, and is deleted then even if it passes', async () => {
    const { metadata } = await ofJob();
    const released = await api.patch<Stored>(`${pods}/${metadata.name}`, release);
    assert.deepEqual(released.metadata.labels, { [profileLabel]: 'cilium', a: 'b' });
    const statuses = [{ name: 'cni-gate-validator', image: 'i', imageID: '', ready: true, restartCount: 1 }];
    const passed = await cluster.api.patch<Stored>(`${pods}/${metadata.name}/status`, {
      status: { initContainerStatuses: [{ ...statuses[0], state: ended(0), lastState: ended(95) }] },
    });
    await remove(passed);
  });

  test('and is not taken for released while a controller finds it, whatever its annotation says', async () => {
    const annotation = { [releasedAnnotation]: 'j' };
    const passed = { state: ended(0), lastState: ended(95) };
    await refused(remove(await ofJob({ status: passed, annotations: annotation })));
    await refused(remove(await failed({ status: passed, annotations: annotation })));
  });

  test('only with these labels, and no other field may change', async () => {
    const { metadata } = await ofJob();
    const others: [string, object][] = [
      ['labels only', { labels: noLabels }],
      ['another label', { ...release.metadata, labels: { ...noLabels, a: null } }],
      ['a new label', { ...release.metadata, labels: { ...noLabels, b: 'c' } }],
      ['our label', { ...release.metadata, labels: { ...noLabels, [profileLabel]: 'none' } }],
      ['one label less', { ...release.metadata, labels: { ...noLabels, 'job-name': 'j' } }],
      ['labels of another Job', { ...release.metadata, labels: { ...noLabels, 'job-name': 'k' } }],
      ['an annotation', { ...release.metadata, annotations: { [releasedAnnotation]: 'j', a: 'b' } }],
      [
        'our annotation',
        { ...release.metadata, annotations: { [releasedAnnotation]: 'j', 'cni-gate.io/status': null } },
      ],
      ['finalizers', { ...release.metadata, finalizers: null }],
      ['owners', { ...release.metadata, ownerReferences: null }],
    ];
    for (const [what, changed] of others) {
      await assert.rejects(
        api.patch(`${pods}/${metadata.name}`, { metadata: changed }),
        (error: unknown) => byPolicy(error, policy),
        what,
      );
    }
    const spec = { activeDeadlineSeconds: 1 };
    await refused(api.patch(`${pods}/${metadata.name}`, { ...release, spec }));
    await api.patch(`${pods}/${metadata.name}`, release);
  });

  test('only if its proof failed, and only from a Job', async () => {
    for (const options of [{ status: { state: ended(0) } }, { owner: 'v1 ConfigMap' }, { owner: '' }]) {
      const { metadata } = await ofJob(options);
      await refused(api.patch(`${pods}/${metadata.name}`, release));
    }
  });
});

test('events of repair are about pods and controllers only', async () => {
  const events = '/apis/events.k8s.io/v1/namespaces/default/events';
  const event = (name: string, reason: string, regarding: object, type = 'Normal'): object => ({
    metadata: { name },
    eventTime: microTime(new Date()),
    type,
    reason,
    action: 'Recreate',
    note: 'its proof failed',
    regarding: { namespace: 'default', name: 'web', ...regarding },
    reportingController: eventReporter,
    reportingInstance: 'a',
  });
  const { recreated, wouldRecreate, notRecreated, nominated } = eventReasons;
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment' };
  await api.post(events, event('pod', recreated, { apiVersion: 'v1', kind: 'Pod' }));
  await api.post(events, event('would', wouldRecreate, deployment));
  await api.post(events, event('not', notRecreated, { apiVersion: 'batch/v1', kind: 'Job' }, 'Warning'));
  const replication = { apiVersion: 'v1', kind: 'ReplicationController' };
  await api.post(events, event('replication', recreated, replication));
  await refused(api.post(events, event('service', recreated, { apiVersion: 'v1', kind: 'Service' })));
  await refused(api.post(events, event('type', notRecreated, deployment)));
  await refused(api.post(events, event('held', nominated, deployment)));
});
