import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { profileLabel } from '../../webhook/lib/names.ts';
import { eventually } from './harness/eventually.ts';
import { installed } from './installed/installation.ts';
import { pod } from './installed/overlay.ts';
import { makeNamespace } from './installed/working.ts';

/* Events about what pods show, as installed, with the rights and the policy of the manifests. */

interface Event {
  reason: string;
  message: string;
  regarding?: { name: string };
  involvedObject: { name: string };
}

const where = 'shop';
const { cluster } = await installed('strict');
const { api } = cluster;
await makeNamespace(cluster, where, { [profileLabel]: 'cilium' });

/** Makes a pod on a node that kwok leaves alone. The test is its kubelet. */
const make = (name: string, spec: object = {}): Promise<string> =>
  cluster.apply(
    pod(
      name,
      { nodeName: 'n1', ...spec },
      { namespace: where, annotations: { 'cni-gate.test/held': 'yes' } },
    ),
  );

const write = (name: string, status: object): Promise<unknown> =>
  api.patch(`/api/v1/namespaces/${where}/pods/${name}/status`, { status });

const sandbox = (status: 'True' | 'False', since = new Date()): object => ({
  type: 'PodReadyToStartContainers',
  status,
  lastTransitionTime: since.toISOString(),
});

/** A pod that runs with these addresses. */
const runs = (name: string, ...ips: string[]): Promise<unknown> =>
  write(name, {
    phase: 'Running',
    conditions: [sandbox('True')],
    podIP: ips[0],
    podIPs: ips.map((ip) => ({ ip })),
  });

const events = async (reason: string): Promise<Event[]> => {
  const query = `fieldSelector=reason%3D${reason}`;
  const { items } = await api.get<{ items: Event[] }>(`/api/v1/namespaces/${where}/events?${query}`);
  return items;
};

suite('events about what pods show', () => {
  test('two pods with one address: within five seconds, one event on each', async () => {
    await Promise.all(['one', 'two', 'three'].map((name) => make(name)));
    await runs('three', '10.9.0.3');
    await runs('one', '10.9.0.1', 'fd00:0:0::1');
    const began = Date.now();
    await runs('two', '10.9.0.2', 'fd00::1');
    const found = await eventually(async () => {
      const all = await events('DuplicateAddress');
      assert.equal(all.length, 2);
      return all;
    }, 10);
    const took = Date.now() - began;
    assert.ok(took < 5500, `${took} ms`);
    assert.deepEqual(found.map(({ involvedObject }) => involvedObject.name).toSorted(), ['one', 'two']);
    for (const { message } of found)
      assert.match(message, /^address fd00::1 of the pod network is also that of/);
    await sleep(5000);
    assert.equal((await events('DuplicateAddress')).length, 2);
  });

  test('an address that moves from a pod that ends to a new one: never', async () => {
    await make('old');
    await runs('old', '10.9.0.7');
    await make('new');
    // the status of the new pod comes first
    await runs('new', '10.9.0.7');
    await sleep(1000);
    await write('old', { phase: 'Succeeded' });
    await sleep(8000);
    const names = (await events('DuplicateAddress')).map(({ involvedObject }) => involvedObject.name);
    assert.deepEqual(names.toSorted(), ['one', 'two']);
  });

  test('a pod without a sandbox for a minute: one event that names where to look', async () => {
    await make('late');
    const since = new Date(Date.now() - 61_000);
    const waiting = { waiting: { reason: 'PodInitializing' } };
    const validator = { name: 'cni-gate-validator', image: 'i', imageID: '', restartCount: 0, ready: false };
    await write('late', {
      conditions: [sandbox('False', since)],
      initContainerStatuses: [{ ...validator, state: waiting }],
    });
    const [event, ...more] = await eventually(async () => {
      const all = await events('WaitingForSandbox');
      assert.ok(all.length > 0);
      return all;
    }, 10);
    assert.deepEqual([event?.involvedObject.name, more.length], ['late', 0]);
    assert.match(event?.message ?? '', /^no sandbox on node n1 since .* DaemonSet kube-system\/cilium/);
  });
});
