import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { profileLabel, releasedAnnotation } from '../../webhook/lib/names.ts';
import { eventually } from './harness/eventually.ts';
import { addNode } from './harness/nodes.ts';
import { pod, restricted } from './harness/objects.ts';
import { refused, startWithTooMuch } from './installed/account.ts';

/* Our service account has every right here. Only the policy limits it to the repair of pods whose proof failed. */

const { cluster, api } = await startWithTooMuch();
await addNode(cluster, 'n1', { kwok: false });
// no replica answers, and the policy over pods would refuse pods without a proof, so both are removed
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

const ended = (exitCode: number): object => ({ terminated: { exitCode } });
const ours = '{"checks":["address"]}';
const foreign = '{"checks":["container"]}';

interface Stored {
  metadata: { name: string; uid: string; resourceVersion: string; labels?: Record<string, string> };
}

interface FailedPod {
  where?: string;
  status?: object;
  /** Whether the pod's other containers have started. */
  runs?: boolean;
  container?: string;
  /** Whether the container is a sidecar with a readiness probe. */
  probed?: boolean;
  annotation?: string;
  annotations?: Record<string, string>;
  labels?: Record<string, string>;
  /** The pod's controller as `apiVersion kind`, or an empty string for none. */
  owner?: string;
}

let count = 0;

/** An owner that exists; otherwise, the garbage collector would delete the pod. No controller acts on this owner. */
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

async function failed({
  where = 'shop',
  status = { state: ended(95) },
  runs = false,
  container = 'cni-gate-validator',
  probed = false,
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
  // the deleted policy binding and webhooks stay in force for a moment
  const readinessProbe = { tcpSocket: { port: 14040 } };
  const sidecar = { ...restricted.containers[0], name: container, restartPolicy: 'Always', readinessProbe };
  const spec = { nodeName: 'n1', ...restricted, ...(probed && { initContainers: [sidecar] }) };
  await eventually(() => cluster.api.post(pods, pod(name, spec, metadata)));
  const statuses = [{ name: container, image: 'i', imageID: '', ready: false, restartCount: 0, ...status }];
  const containers = [{ name: 'web', image: 'i', imageID: '', ready: runs, restartCount: 0, started: runs }];
  return cluster.api.patch(`${pods}/${name}/status`, {
    status: { initContainerStatuses: statuses, containerStatuses: containers },
  });
}

const remove = (
  { metadata: { name, uid, resourceVersion } }: Stored,
  { where = 'shop', ...more }: { where?: string; [option: string]: unknown } = {},
): Promise<unknown> =>
  api.request('DELETE', `/api/v1/namespaces/${where}/pods/${name}`, {
    body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid, resourceVersion }, ...more },
  });

/** The validator's state, and the state of its previous run. A number is an exit code. */
const proof = (state: number | object, lastState?: number | object, restartCount = 0): FailedPod => ({
  status: {
    state: stateOf(state),
    ...(lastState !== undefined && { lastState: stateOf(lastState) }),
    restartCount,
  },
});
const stateOf = (state: number | object): object => (typeof state === 'number' ? ended(state) : state);
const running = { running: {} };
const backOff = { waiting: { reason: 'CrashLoopBackOff' } };

/** The validator as a running witness, which is Ready or not. */
const witness = (ready: boolean, more: FailedPod = {}): FailedPod => ({
  status: { state: running, started: true, ready },
  ...{ runs: true, probed: true, ...more },
});

suite('a pod may be deleted', () => {
  for (const [what, options] of Object.entries<FailedPod>({
    'if its proof failed': {},
    'while the proof is repeated': proof(running, 95),
    'while the proof waits to be repeated': proof(backOff, 95),
    'if it failed after a reboot, and had passed before': proof(95, 0),
    "if Istio's own validator failed": { ...proof(126), annotation: foreign },
    'whose proof was not possible when it was repeated': proof(backOff, 69, 1),
    'whose proof crashed after it had failed': proof(137, 95, 1),
    'if its network is lost': witness(false),
    'if it is of a Job': { owner: 'batch/v1 Job' },
  })) {
    test(what, async () => void (await remove(await failed(options))));
  }
});

suite('the service account may not delete a pod', () => {
  for (const [what, options] of Object.entries<FailedPod>({
    'whose proof passed': proof(0),
    'whose proof passed after it had failed': proof(0, 95, 1),
    'whose proof passed before a reboot, and is repeated': proof(running, 0),
    'whose proof crashed after it had passed': proof(137, 0, 1),
    'whose witness was killed while its containers run': { ...proof(running, 137, 2), runs: true },
    'that waits': proof({ waiting: { reason: 'PodInitializing' } }),
    'whose proof was not possible': proof(69),
    'whose proof crashed': proof(137),
    'whose proof ended with a code of another validator': proof(126),
    'of which another init container failed': { container: 'migrate' },
    "whose network's own validator was called wrongly": { ...proof(64), annotation: foreign },
    "whose network's own validator was killed": { ...proof(137), annotation: foreign },
    'whose network works': witness(true),
    'whose witness is not ready, but has no readiness probe': witness(false, { probed: false }),
    'whose witness has not started': {
      ...witness(false),
      status: { state: running, started: false, ready: false },
    },
    'whose unready sidecar is not ours': witness(false, { container: 'proxy' }),
    'that has no controller': { owner: '' },
    'that a kubelet owns': { owner: 'v1 Node' },
    'without our label': { labels: {} },
    'in a namespace that did not opt in': { where: 'plain' },
    'in a namespace that opted out': { where: 'declined' },
    'in kube-system': { where: 'kube-system' },
    'in cni-gate': { where: 'cni-gate' },
  })) {
    const { where = 'shop' } = options;
    test(what, async () => refused(remove(await failed(options), { where })));
  }

  test("without the pod's UID and resource version", async () => {
    const stored = await failed();
    const { name, uid, resourceVersion } = stored.metadata;
    for (const preconditions of [undefined, {}, { uid }, { resourceVersion }])
      await refused(remove(stored, { preconditions }));
    await refused(api.delete(`/api/v1/namespaces/shop/pods/${name}`));
    await remove(stored);
  });

  test('with a shorter grace period', async () => {
    const one = await failed();
    for (const gracePeriodSeconds of [0, 1]) await refused(remove(one, { gracePeriodSeconds }));
    await remove(one, { gracePeriodSeconds: 30 });
  });

  test('as part of a collection', async () => {
    await failed();
    await refused(api.delete('/api/v1/namespaces/shop/pods'));
  });
});

suite('a pod may be released', () => {
  const pods = '/api/v1/namespaces/shop/pods';
  const ofJob = (more: FailedPod = {}): Promise<Stored> =>
    failed({ owner: 'batch/v1 Job', labels: { [profileLabel]: 'cilium', a: 'b', ...jobLabels }, ...more });

  test("by removing its Job's labels, and then deleted even if it passes", async () => {
    const { metadata } = await ofJob();
    const released = await api.patch<Stored>(`${pods}/${metadata.name}`, release);
    assert.deepEqual(released.metadata.labels, { [profileLabel]: 'cilium', a: 'b' });
    const statuses = [{ name: 'cni-gate-validator', image: 'i', imageID: '', ready: true, restartCount: 1 }];
    const passed = await cluster.api.patch<Stored>(`${pods}/${metadata.name}/status`, {
      status: { initContainerStatuses: [{ ...statuses[0], state: ended(0), lastState: ended(95) }] },
    });
    await remove(passed);
  });

  test('if its network is lost, and then deleted even if it recovers', async () => {
    const { metadata } = await ofJob(witness(false));
    await api.patch<Stored>(`${pods}/${metadata.name}`, release);
    const statuses = [{ name: 'cni-gate-validator', image: 'i', imageID: '', restartCount: 0 }];
    const recovered = await cluster.api.patch<Stored>(`${pods}/${metadata.name}/status`, {
      status: { initContainerStatuses: [{ ...statuses[0], state: running, started: true, ready: true }] },
    });
    await remove(recovered);
  });

  test('but does not count as released while it has a controller, whatever its annotation says', async () => {
    const passed = { ...proof(0, 95), annotations: { [releasedAnnotation]: 'j' } };
    await refused(remove(await ofJob(passed)));
    await refused(remove(await failed(passed)));
  });

  test('only with these labels, and no other field may change', async () => {
    const { metadata } = await ofJob();
    const path = `${pods}/${metadata.name}`;
    const labels = (more: object): object => ({ labels: { ...noLabels, ...more } });
    const annotations = (more: object): object => ({ annotations: { [releasedAnnotation]: 'j', ...more } });
    const others: Record<string, object> = {
      'labels only': { annotations: {} },
      'another label': labels({ a: null }),
      'a new label': labels({ b: 'c' }),
      'our label': labels({ [profileLabel]: 'none' }),
      'one label less': labels({ 'job-name': 'j' }),
      'labels of another Job': labels({ 'job-name': 'k' }),
      'an annotation': annotations({ a: 'b' }),
      'our annotation': annotations({ 'cni-gate.io/status': null }),
      finalizers: { finalizers: null },
      owners: { ownerReferences: null },
    };
    for (const [what, changed] of Object.entries(others))
      await refused(api.patch(path, { metadata: { ...release.metadata, ...changed } }), what);
    await refused(api.patch(path, { ...release, spec: { activeDeadlineSeconds: 1 } }));
    await api.patch(path, release);
  });

  test('only if its proof failed, and only from a Job', async () => {
    for (const options of [proof(0), { owner: 'v1 ConfigMap' }, { owner: '' }]) {
      const { metadata } = await ofJob(options);
      await refused(api.patch(`${pods}/${metadata.name}`, release));
    }
  });
});
