import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { profileLabel, validatorContainer } from '../../webhook/lib/names.ts';
import { validatorImage } from '../../webhook/lib/version.ts';
import { eventually } from '../cluster/harness/eventually.ts';
import { pod, workload } from '../cluster/harness/objects.ts';
import { makeNamespace } from '../cluster/installed/working.ts';
import { configure } from './harness/configure.ts';
import { meshedNode } from './harness/installed.ts';
import { isReady, latestProof, type Pod } from './harness/workload.ts';
import { chained } from './mesh/daemon-set.ts';

/*
 * The kubelet as a witness. This node cannot enforce a NetworkPolicy; tests/netns/witness.test.ts has a policy that
 * allows connections only from the node.
 */

const many = 30;

type FullPod = Pod & {
  status: { phase: string; qosClass: string };
};

const { cluster, replicas, node, image } = await meshedNode();
const { api } = cluster;
const settings = {
  profiles: [
    { name: 'seen', proof: { witness: 'kubelet' } },
    { name: 'unseen', proof: { checks: [{ address: { timeout: '10s' } }] } },
  ],
};
await configure(cluster, replicas, { ...settings, repair: { mode: 'off' } });
await makeNamespace(cluster, 'mesh', { [profileLabel]: 'linkerd.seen' });
await makeNamespace(cluster, 'plain', { [profileLabel]: 'seen' });
await makeNamespace(cluster, 'unseen', { [profileLabel]: 'unseen' });

/** A container that ends immediately with exit code 0, because it only prints the validator's help. */
const ends = [{ name: 'app', image: validatorImage, imagePullPolicy: 'Never', args: ['validate', '--help'] }];
/** Selects the only node that has a kubelet. */
const here = { nodeSelector: { 'kubernetes.io/hostname': node.name } };
const meshed = {
  ...here,
  containers: [{ name: 'linkerd-proxy', image: image.name, securityContext: { runAsUser: 2102 } }],
};

const pods = (namespace: string): Promise<FullPod[]> =>
  api.get<{ items: FullPod[] }>(`/api/v1/namespaces/${namespace}/pods`).then(({ items }) => items);
const validatorOf = ({ status }: Pod) =>
  status.initContainerStatuses?.find(({ name }) => name === validatorContainer);

test('pods of a Deployment, a StatefulSet and a DaemonSet, and a single pod, pass in a mesh', async (t) => {
  const of = { namespace: 'mesh', spec: meshed };
  await cluster.apply(
    workload('Deployment', 'deployment', of),
    workload('StatefulSet', 'stateful-set', of),
    workload('DaemonSet', 'daemon-set', of),
    pod('pod', meshed, { namespace: 'mesh' }),
  );
  const all = await eventually(async () => {
    const found = await pods('mesh');
    assert.equal(found.filter(isReady).length, 4);
    return found;
  }, 90);
  for (const one of all) {
    assert.ok(validatorOf(one)?.state.running, JSON.stringify(one.status));
    assert.equal(one.status.qosClass, 'BestEffort');
    const log = await cluster.kubectl(['-n', 'mesh', 'logs', one.metadata.name, '-c', validatorContainer]);
    assert.match(log, /linkerd: witness IPv4 passed: .* come to port 4143\./);
    assert.match(log, /verdict: passed \(0\)/);
  }
  const memory = waiting().map(privateMemory);
  assert.equal(memory.length, 4);
  t.diagnostic(`memory of each at rest: ${memory.join(', ')} kB`);
  assert.ok(Math.max(...memory) < 1000, `${memory} kB`);
});

test('a witness does not delay the end of its pod', async (t) => {
  const start = performance.now();
  await cluster.kubectl(['-n', 'mesh', 'delete', 'pod', 'pod', '--wait=true']);
  const seconds = (performance.now() - start) / 1000;
  t.diagnostic(`deleted after ${seconds.toFixed(1)} s`);
  assert.ok(seconds < 10, `${seconds} s of a grace period of 30 s`);
});

test('without inbound rules, nothing but the validator starts', async () => {
  const annotations = { 'example.com/no-inbound-rules': '' };
  await cluster.apply(pod('lost', meshed, { namespace: 'mesh', annotations }));
  const lost = await api.until<FullPod>(
    '/api/v1/namespaces/mesh/pods?fieldSelector=metadata.name%3Dlost',
    (one) => latestProof(one) !== undefined,
  );
  assert.equal(latestProof(lost)?.exitCode, 95);
  const { state, lastState } = validatorOf(lost) ?? {};
  const { message = '' } = state?.terminated ?? lastState?.terminated ?? {};
  assert.match(message, /"reason":"inbound-not-redirected"/);
  assert.ok(lost.status.containerStatuses?.every(({ containerID }) => !containerID));
  await cluster.kubectl(['-n', 'mesh', 'delete', 'pod', 'lost', '--wait=true']);
});

test('Jobs and CronJobs complete', async () => {
  const job = (restartPolicy: string) => ({
    backoffLimit: 0,
    template: { spec: { ...here, restartPolicy, containers: ends } },
  });
  const batch = (kind: string, name: string, spec: object) => ({
    apiVersion: 'batch/v1',
    kind,
    metadata: { name, namespace: 'plain' },
    spec,
  });
  await cluster.apply(
    batch('Job', 'on-failure', job('OnFailure')),
    batch('Job', 'never', job('Never')),
    batch('CronJob', 'cron', { schedule: '* * * * *', jobTemplate: { spec: job('Never') } }),
  );
  await eventually(async () => {
    const { items } = await api.get<{ items: { status: { succeeded?: number; failed?: number } }[] }>(
      '/apis/batch/v1/namespaces/plain/jobs',
    );
    assert.ok(items.length >= 3);
    for (const { status } of items) assert.deepEqual([status.succeeded, status.failed ?? 0], [1, 0]);
  }, 120);
  for (const { status } of await pods('plain'))
    assert.equal(status.initContainerStatuses?.[0]?.state.terminated?.exitCode, 0);
  await api.delete('/apis/batch/v1/namespaces/plain/cronjobs/cron');
});

test(`${many} simultaneous pods: when the next container starts`, async (t) => {
  // pods of `plain` have a witness; those of `unseen` have none, so their validator ends before the next container starts
  for (const namespace of ['unseen', 'plain']) {
    const names = Array.from({ length: many }, (_, index) => `at-once-${index}`);
    const spec = { ...here, restartPolicy: 'Never', containers: ends };
    await Promise.all(names.map((name) => api.post(`/api/v1/namespaces/${namespace}/pods`, pod(name, spec))));
    const done = await eventually(async () => {
      const found = (await pods(namespace)).filter(
        ({ metadata, status }) => metadata.name.startsWith('at-once') && status.phase === 'Succeeded',
      );
      assert.equal(found.length, many);
      return found;
    }, 180);
    const started = new Map(node.starts().map(({ id, at }) => [id, at]));
    const at = (id = ''): number => started.get(id.split('//')[1] ?? '') ?? Number.NaN;
    const times = done
      .map((one) => at(one.status.containerStatuses?.[0]?.containerID) - at(validatorOf(one)?.containerID))
      .toSorted((a, b) => a - b);
    const part = (which: number): string =>
      ((times[Math.floor(which * (times.length - 1))] ?? Number.NaN) / 1000).toFixed(2);
    t.diagnostic(`${namespace}: ${part(0.5)} s (median), ${part(0.9)} s (90 %), ${part(1)} s (longest)`);
    for (const one of done) assert.equal(latestProof(one)?.exitCode, 0);
  }
});

test('after a reboot, each pod is witnessed again, or fails and is recreated by repair', async () => {
  await configure(cluster, replicas, { ...settings, repair: { mode: 'recreate' } });
  await node.powerCut();
  await node.boot();
  await chained(node);
  await eventually(async () => {
    const started = new Set(node.starts().map(({ id }) => id));
    const again = (await pods('mesh')).filter(
      (one) => isReady(one) && started.has(validatorOf(one)?.containerID?.split('//')[1] ?? ''),
    );
    assert.equal(again.length, 3);
  }, 180);
});

/** The process IDs of validators on this node that wait for the end of their pods. */
const waiting = (): string[] =>
  readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && read(pid, 'cmdline').includes('wait-for-signal'));

/** Private memory of a process in kB. */
const privateMemory = (pid: string): number =>
  [...read(pid, 'smaps_rollup').matchAll(/^Private_(?:Clean|Dirty):\s+(\d+) kB$/gm)].reduce(
    (sum, [, kB]) => sum + Number(kB),
    0,
  );

function read(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8');
  } catch {
    return '';
  }
}
