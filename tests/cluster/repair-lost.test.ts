import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { profileLabel } from '../../webhook/lib/names.ts';
import { eventually } from './harness/eventually.ts';
import { workload } from './harness/objects.ts';
import { installed } from './installed/installation.ts';
import { makeNamespace } from './installed/working.ts';
import { decide, type Fate, ours, type Pod, startKubelet } from './repair/kubelet.ts';

/* Pods whose rechecks fail, with the rights and the policy of the manifests. The test plays the kubelet. */

const where = 'shop';
const { cluster, replicas } = await installed('strict');
const { api, apply } = cluster;

/** The values of a metric in the replica that reports a state of repair which only the leader has. */
async function leaderMetrics(state: string): Promise<string> {
  return eventually(async () => {
    const texts = await Promise.all(replicas.map(async (replica) => (await replica.ops('/metrics')).text()));
    const found = texts.find((text) => text.includes(`cni_gate_repair_state{state="${state}"} 1`));
    assert.ok(found, 'there is no leader');
    return found;
  }, 60);
}

async function configure(onFailure: string): Promise<void> {
  const continuous = `{ interval: 10s, failures: 3, onFailure: ${onFailure} }`;
  const config = `apiVersion: cni-gate.io/v1alpha1
kind: Configuration
repair: { mode: recreate }
profiles:
  - name: watched
    daemonSets: []
    proof: { witness: kubelet, continuous: ${continuous}, checks: [address: { timeout: 10s }] }
`;
  await api.patch('/api/v1/namespaces/cni-gate/configmaps/cni-gate', { data: { 'config.yaml': config } });
  const before = replicas.map(({ lines }) => lines.length);
  await Promise.all(replicas.map((replica) => replica.refresh()));
  await eventually(async () => {
    for (const [index, { lines }] of replicas.entries())
      assert.ok(lines.slice(before[index]).some(({ msg }) => msg === 'reloaded'));
  });
}

await configure('unready');
await makeNamespace(cluster, where, { [profileLabel]: 'watched' });
await api.patch('/api/v1/nodes/n2', { spec: { unschedulable: true } });
const kubelet = startKubelet(cluster, where);
after(() => kubelet.stop());
kubelet.fate = () => 'serving';

const podsOf = async (name: string): Promise<Pod[]> =>
  (await api.get<{ items: Pod[] }>(`/api/v1/namespaces/${where}/pods`)).items.filter(
    ({ metadata }) => metadata.name.startsWith(`${name}-`) && metadata.deletionTimestamp === undefined,
  );

const placed = (name: string, count: number): Promise<Pod[]> =>
  eventually(async () => {
    const found = (await podsOf(name)).filter(
      ({ spec, metadata }) => spec.nodeName && kubelet.seen.has(metadata.uid),
    );
    assert.equal(found.length, count);
    return found;
  }, 60);

const become = (pods: readonly Pod[], fate: Fate): Promise<unknown> =>
  Promise.all(pods.map((one) => decide(cluster, one, fate)));

const eventsOn = async (pods: readonly Pod[]): Promise<string[]> => {
  const path = `/apis/events.k8s.io/v1/namespaces/${where}/events`;
  const { items } = await api.get<{ items: { reason: string; regarding: { uid: string } }[] }>(path);
  const uids = new Set(pods.map(({ metadata }) => metadata.uid));
  const found = items.filter(({ reason, regarding }) => /^Network/.test(reason) && uids.has(regarding.uid));
  return found.map(({ reason }) => reason).toSorted();
};

const uidsOf = (pods: readonly Pod[]): string[] => pods.map(({ metadata }) => metadata.uid).toSorted();

await leaderMetrics('recreate');
await apply(
  workload('Deployment', 'web', { namespace: where, replicas: 2, ...ours }),
  workload('Deployment', 'db', { namespace: where, replicas: 1, ...ours }),
);
const web = await placed('web', 2);
const db = await placed('db', 1);
const all = [...web, ...db];
await become(all, 'serving');

test('a witness that was killed and is not ready for some seconds is no loss', async () => {
  await become(db, 'killed');
  await sleep(8000);
  await become(db, 'serving');
  await sleep(8000);
  assert.deepEqual(await eventsOn(db), []);
});

test('with unready, lost pods are not deleted, each has one event, and their node takes one pod at a time', async () => {
  await become(all, 'unready');
  await eventually(async () => assert.deepEqual(await eventsOn(all), Array(3).fill('NetworkLost')), 60);
  // repair looks at all pods at intervals
  await eventually(async () => {
    const metrics = await leaderMetrics('recreate');
    assert.match(metrics, /^cni_gate_proofs\{verdict="lost"\} 3$/m);
    assert.match(metrics, /^cni_gate_repair_skipped\{reason="unready"\} 3$/m);
  });
  kubelet.fate = () => undefined;
  await apply(workload('Deployment', 'new', { namespace: where, replicas: 2, ...ours }));
  const first = await placed('new', 1);
  await sleep(3000);
  assert.equal((await placed('new', 1)).length, 1, 'the other one is held');
  kubelet.fate = () => 'serving';
  await become(first, 'serving');
  await placed('new', 2);
  assert.deepEqual(uidsOf([...(await podsOf('web')), ...(await podsOf('db'))]), uidsOf(all));
});

test('one that recovers has an event, and is left alone', async () => {
  await become(db, 'serving');
  await eventually(async () => assert.deepEqual(await eventsOn(db), ['NetworkLost', 'NetworkRecovered']));
});

test('with recreate, one lost pod of a controller is deleted, and the next after the verdict of the new one', async () => {
  kubelet.fate = () => undefined;
  await configure('recreate');
  const isFirst = ({ metadata }: Pod): boolean => uidsOf(web).includes(metadata.uid);
  const next = await eventually(async () => {
    const [pod] = (await placed('web', 2)).filter((one) => !isFirst(one));
    assert.ok(pod);
    return pod;
  }, 60);
  await sleep(8000);
  assert.equal((await podsOf('web')).filter(isFirst).length, 1);
  kubelet.fate = () => 'serving';
  await become([next], 'serving');
  await eventually(async () => assert.equal((await placed('web', 2)).filter(isFirst).length, 0), 60);
  assert.deepEqual(uidsOf(await podsOf('db')), uidsOf(db), 'the one that recovered');
  assert.deepEqual(await eventsOn(web), ['NetworkLost', 'NetworkLost']);
});
