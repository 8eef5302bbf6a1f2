import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, suite, test } from 'node:test';
import { parse } from 'yaml';
import { profileLabel } from '../../webhook/lib/names.ts';
import { eventually } from './harness/eventually.ts';
import { addNode } from './harness/nodes.ts';
import { pod, workload } from './harness/objects.ts';
import { installed } from './installed/installation.ts';
import type { RunningPod } from './installed/pod.ts';
import { makeNamespace } from './installed/working.ts';
import { decide, type Kubelet, ours, type Pod, startKubelet } from './repair/kubelet.ts';

/* Repair with the rights and the policy of the manifests. The test acts as the kubelet of users' pods. */

const account = 'system:serviceaccount:cni-gate:cni-gate';
const where = 'shop';
const pods = `/api/v1/namespaces/${where}/pods`;

const { cluster, replicas } = await installed('strict');
const { api, apply } = cluster;
await makeNamespace(cluster, where, { [profileLabel]: 'cilium' });
const kubelet = startKubelet(cluster, where);
after(() => kubelet.stop());

/** Whether this replica runs and its last log line about leading says that it leads. */
const isLeader = ({ lines, child }: RunningPod): boolean =>
  child.exitCode === null &&
  child.signalCode === null &&
  lines.findLast(({ msg }) => /^this replica (leads|does not lead)/.test(String(msg)))?.msg ===
    'this replica leads';

const leader = (): Promise<RunningPod> =>
  eventually(async () => {
    const found = replicas.find(isLeader);
    assert.ok(found, 'there is no leader');
    return found;
  });

const guide = readFileSync(new URL('../../docs/guides/repair.md', import.meta.url), 'utf8');

const ourWorkload = (
  kind: 'Deployment' | 'StatefulSet',
  name: string,
  replicas: number,
  spec?: object,
): object => workload(kind, name, { namespace: where, replicas, ...ours, ...(spec && { spec }) });

const podsOf = async (name: string): Promise<Pod[]> =>
  (await api.get<{ items: Pod[] }>(pods)).items.filter(
    ({ metadata }) => metadata.name.startsWith(`${name}-`) && metadata.deletionTimestamp === undefined,
  );

const placed = (name: string, count: number, without: readonly string[] = [], seconds = 60): Promise<Pod[]> =>
  eventually(async () => {
    const found = (await podsOf(name)).filter(({ spec }) => spec.nodeName);
    assert.equal(found.length, count);
    assert.deepEqual(
      found.filter(({ metadata }) => without.includes(metadata.uid)),
      [],
    );
    return found;
  }, seconds);

const uidsOf = (some: readonly Pod[]): string[] => some.map(({ metadata }) => metadata.uid).sort();

const deleted = (name: string): string[] =>
  cluster
    .audited()
    .filter(
      ({ user, verb, objectRef, responseStatus }) =>
        user.username === account &&
        verb === 'delete' &&
        objectRef?.resource === 'pods' &&
        objectRef.name?.startsWith(`${name}-`) &&
        responseStatus?.code === 200,
    )
    .map(({ objectRef }) => objectRef?.name ?? '')
    .sort();

const namesOf = (some: readonly Pod[]): string[] => some.map(({ metadata }) => metadata.name).sort();

interface Event {
  reason: string;
  note: string;
  regarding: { kind: string; name: string };
}

const eventsOn = async (kind: string, name: string): Promise<Event[]> =>
  (await api.get<{ items: Event[] }>(`/apis/events.k8s.io/v1/namespaces/${where}/events`)).items.filter(
    ({ regarding, reason }) => regarding.kind === kind && regarding.name === name && /Recreate/.test(reason),
  );

/** Fails the proofs of the first `count` new pods whose names begin with `name-`. `others` decides about other pods. */
const failFirst = (name: string, count: number, others: Kubelet['fate'] = () => 'passed'): void => {
  let left = count;
  kubelet.fate = (one) => {
    if (!one.metadata.name.startsWith(`${name}-`) || left <= 0) return others(one);
    left -= 1;
    return 95;
  };
};

/** Sets sections of the configuration, and waits until the leader has loaded them. */
async function configure(repair: string, gate = ''): Promise<void> {
  const sections = `gate: {${gate}}\nrepair: {${repair}}\n`;
  const config = `apiVersion: cni-gate.io/v1alpha1\nkind: Configuration\n${sections}`;
  await api.patch('/api/v1/namespaces/cni-gate/configmaps/cni-gate', { data: { 'config.yaml': config } });
  const running = replicas.filter(({ child }) => child.exitCode === null && child.signalCode === null);
  const before = running.map(({ lines }) => lines.length);
  await Promise.all(running.map((replica) => replica.refresh()));
  await eventually(async () => {
    for (const [index, { lines }] of running.entries())
      assert.ok(lines.slice(before[index]).some(({ msg }) => msg === 'reloaded'));
    const text = await (await (await leader()).ops('/metrics')).text();
    assert.match(text, /cni_gate_repair_state\{state="recreate"\} 1/);
  });
}

await leader();

test('pods whose proof failed are recreated, and no others', async () => {
  kubelet.fate = () => undefined;
  await apply(ourWorkload('Deployment', 'mixed', 5), pod('bare-1', {}, { namespace: where, ...ours }));
  const first = await placed('mixed', 5);
  const [bare] = await placed('bare', 1);
  assert.ok(bare);
  kubelet.fate = () => 'passed';
  const fates = [95, 95, 'passed', 137, 69] as const;
  await Promise.all(first.map((one, index) => decide(cluster, one, fates[index] ?? 'passed')));
  await decide(cluster, bare, 95);
  const [failed, others] = [first.slice(0, 2), first.slice(2)];
  const now = await placed('mixed', 5, uidsOf(failed));
  assert.deepEqual(
    uidsOf(others).filter((uid) => !uidsOf(now).includes(uid)),
    [],
  );
  assert.deepEqual(deleted('mixed'), namesOf(failed));
  await eventually(async () => {
    const [event] = await eventsOn('Deployment', 'mixed');
    assert.match(event?.note ?? '', /failed/);
    assert.equal((await eventsOn('Pod', failed[0]?.metadata.name ?? ''))[0]?.reason, 'Recreated');
    assert.match((await eventsOn('Pod', 'bare-1'))[0]?.note ?? '', /no controller/);
  });
  assert.deepEqual(deleted('bare'), []);
});

suite('a failed proof does not fail a Job', () => {
  const job = (name: string, spec: object, restartPolicy: string): object => ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { namespace: where, name },
    spec: {
      backoffLimit: 0,
      ...spec,
      template: {
        metadata: ours,
        spec: { restartPolicy, containers: [{ name: 'work', image: 'example/work' }] },
      },
    },
  });

  interface Job {
    metadata: { name: string };
    status: { failed?: number; succeeded?: number; conditions?: { type: string; status: string }[] };
  }

  const complete = (name: string): Promise<Job> =>
    api.until<Job>(
      `/apis/batch/v1/namespaces/${where}/jobs`,
      ({ metadata, status }) =>
        metadata.name.startsWith(name) &&
        status.conditions?.some(({ type, status: is }) => /^(Complete|Failed)$/.test(type) && is === 'True'),
    );

  test('with restartPolicy OnFailure and backoffLimit 0: its pod is released and replaced', async () => {
    failFirst('once', 1, () => 'succeeded');
    await apply(job('once', {}, 'OnFailure'));
    const { status } = await complete('once');
    assert.deepEqual([status.failed ?? 0, status.succeeded], [0, 1]);
    assert.equal(deleted('once').length, 1);
    assert.match(
      (
        await eventually(async () => {
          const [event] = await eventsOn('Job', 'once');
          assert.ok(event);
          return event;
        })
      ).note,
      /proof/,
    );
  });

  test('that is Indexed: each index is replaced', async () => {
    failFirst('indexed', 2, () => 'succeeded');
    await apply(job('indexed', { completionMode: 'Indexed', completions: 3, parallelism: 3 }, 'OnFailure'));
    const { status } = await complete('indexed');
    assert.deepEqual([status.failed ?? 0, status.succeeded], [0, 3]);
  });

  for (const [name, fate, what] of [
    ['never', 'ended', 'a failed proof'],
    ['lost', 'lost', 'a node that lost its power'],
  ] as const) {
    test(`with restartPolicy Never and the guide's podFailurePolicy: ${what} does not fail it`, async () => {
      let left = 1;
      kubelet.fate = () => {
        left -= 1;
        return left >= 0 ? fate : 'succeeded';
      };
      const [, podFailurePolicy = ''] = /```yaml\nspec:\n {2}podFailurePolicy:\n([^`]*)```/.exec(guide) ?? [];
      await apply(job(name, { podFailurePolicy: parse(podFailurePolicy) }, 'Never'));
      const { status } = await complete(name);
      assert.deepEqual([status.failed ?? 0, status.succeeded], [0, 1]);
      assert.deepEqual(deleted(name), [], 'its Job replaces it without help');
    });
  }
});

test('if a new node never gets its plugin, a Deployment of 20 pods runs on another node, which is ready', async (t) => {
  await configure('mode: recreate', 'evidence: proof');
  // with `evidence: proof`, repair moves pods only to a node where a proof has passed
  kubelet.fate = () => 'passed';
  const nodeSelector = { 'kubernetes.io/hostname': 'n2' };
  const containers = [{ name: 'web', image: 'example/web' }];
  await apply(ourWorkload('StatefulSet', 'proves', 1, { nodeSelector, containers }));
  await eventually(async () => assert.equal((await podsOf('proves'))[0]?.status.phase, 'Running'));
  const cordon = (unschedulable: boolean): Promise<unknown> =>
    api.patch('/api/v1/nodes/n1', { spec: { unschedulable } });
  await addNode(cluster, 'bad');
  t.after(() => api.delete('/api/v1/nodes/bad'));
  await cordon(true);
  t.after(() => cordon(false));
  kubelet.fate = ({ spec }) => (spec.nodeName === 'bad' ? 95 : 'passed');
  const began = performance.now();
  await apply(ourWorkload('Deployment', 'moves', 20));
  await eventually(async () => {
    const running = (await podsOf('moves')).filter(({ status }) => status.phase === 'Running');
    assert.deepEqual(
      running.map(({ spec }) => spec.nodeName),
      Array.from({ length: 20 }, () => 'n2'),
    );
  }, 60);
  const failed = [...kubelet.seen.values()].filter(
    ({ metadata, spec }) => metadata.name.startsWith('moves-') && spec.nodeName === 'bad',
  );
  const seconds = (performance.now() - began) / 1000;
  t.diagnostic(`all run after ${seconds.toFixed(1)} s; ${failed.length} were tried on the other node`);
  // the API server writes its audit log a moment later
  await eventually(async () => assert.deepEqual(deleted('moves'), namesOf(failed)));
  // each of the two replicas lets one pod try at a time, and after a failure the next one only two seconds later
  const most = 2 * (2 + Math.floor(seconds / 2));
  assert.ok(
    failed.length >= 1 && failed.length <= most,
    `${failed.length} deletions, at most ${most} expected`,
  );
});

test('if the leader is killed while it repairs 50 pods, the next one continues, and no pod is deleted twice', async (t) => {
  // raises the budgets: with the defaults, 30 of the 50 pods could be deleted at once, and then one a second
  await configure('mode: recreate, perMinute: 1000, perNodePerMinute: 1000, perOwnerPerMinute: 1000');
  kubelet.fate = () => undefined;
  await apply(ourWorkload('Deployment', 'many', 50));
  const first = await placed('many', 50);
  // the simulated kubelet may see a pod late; after `fate` changes, it would report that the proof passed
  await eventually(async () => assert.ok(uidsOf(first).every((uid) => kubelet.seen.has(uid))));
  kubelet.fate = () => 'passed';
  await Promise.all(first.map((one) => decide(cluster, one, 95)));
  await eventually(async () => assert.ok(deleted('many').length >= 10));
  await (await leader()).end('SIGKILL');
  const killed = performance.now();
  const before = deleted('many').length;
  await placed('many', 50, uidsOf(first), 180);
  t.diagnostic(
    `${before} were deleted before, all ${((performance.now() - killed) / 1000).toFixed(1)} s after`,
  );
  // audit records are written a moment later; up to five may lack a status, because their client was killed
  await eventually(async () => assert.ok(deleted('many').length >= 45));
  const recorded = deleted('many');
  assert.deepEqual(recorded, [...new Set(recorded)]);
  assert.deepEqual(
    recorded.filter((name) => !namesOf(first).includes(name)),
    [],
  );
  // the kubelet's watch may report a pod later than the API server binds it
  await eventually(async () => {
    const passed = [...kubelet.seen.values()].filter(({ metadata }) => metadata.name.startsWith('many-'));
    assert.equal(passed.length, 100, 'each was replaced once');
  });
});
