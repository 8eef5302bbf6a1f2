import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { builtInProfiles } from '../../webhook/config/builtin.ts';
import { profileLabel, validatorContainer } from '../../webhook/lib/names.ts';
import { eventually } from '../cluster/harness/eventually.ts';
import { workload } from '../cluster/harness/objects.ts';
import { makeNamespace } from '../cluster/installed/working.ts';
import { run } from '../support/run.ts';
import { configure } from './harness/configure.ts';
import { Fleet } from './harness/fleet.ts';
import { meshedNode } from './harness/installed.ts';
import { isReady, type Pod } from './harness/workload.ts';
import { chained } from './mesh/daemon-set.ts';

/*
 * Rechecks of running pods: a Deployment in linkerd's mesh, behind a Service, with a client that connects to each
 * ready endpoint. One pod's network is broken at a time, and the others must stay in the Service.
 */

/** The time between two rechecks, in seconds. */
const interval = 5;
const failures = 3;
/** The longest time, in seconds, from a fault to the removal of the endpoint. */
const longest = interval * (failures + 1);

/** How many seconds a pod is not ready before the server counts its network as lost, plus a margin. */
const untilLost = 13;

const namespace = 'shop';
const replicas = 4;

interface Slice {
  endpoints: { addresses: string[]; conditions: { ready?: boolean }; targetRef?: { uid: string } }[] | null;
}
interface Event {
  reason: string;
  regarding: { uid: string };
}

const { cluster, replicas: servers, node } = await meshedNode(Fleet.image);
const { api } = cluster;
await useOnFailure('unready', 'off');
await makeNamespace(cluster, namespace, { [profileLabel]: 'pod-network.linkerd.watched' });
await cluster.apply(
  workload('Deployment', 'web', {
    namespace,
    replicas,
    spec: {
      nodeSelector: { 'kubernetes.io/hostname': node.name },
      terminationGracePeriodSeconds: 1,
      containers: [
        {
          name: 'linkerd-proxy',
          image: Fleet.image.name,
          securityContext: { runAsUser: 1000 },
          readinessProbe: { httpGet: { path: '/ready', port: 8080 }, periodSeconds: 1 },
        },
      ],
    },
  }),
  {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'web', namespace },
    spec: { selector: { app: 'web' }, ports: [{ port: 80, targetPort: 8080 }] },
  },
);
await eventually(async () => assert.equal((await ready()).size, replicas), 90);
const client = startClient();
after(() => client.stop());

/** Each fault of one pod's network, and how to undo it. */
const faults: Record<string, (pod: Pod) => Promise<() => Promise<unknown>>> = {
  "the plugin's rules are flushed": async (pod) => {
    const rules = await inPod(pod, 'iptables-nft-save', ['-t', 'nat']);
    await inPod(pod, 'iptables-nft', ['-t', 'nat', '-F']);
    return () => inPod(pod, 'iptables-nft-restore', [], rules);
  },
  'the veth is removed from the bridge': async (pod) => {
    const veth = await linkOf(pod);
    await run('ip', ['link', 'set', veth, 'nomaster']);
    return () => run('ip', ['link', 'set', veth, 'master', 'cni0']);
  },
  'the route to the pod is lost': async ({ status }) => {
    await run('ip', ['route', 'add', 'blackhole', `${status.podIP}/32`]);
    return () => run('ip', ['route', 'delete', 'blackhole', `${status.podIP}/32`]);
  },
  'another pod takes the address': async ({ status }) => {
    await run('ip', ['netns', 'add', 'thief']);
    await run('ip', ['link', 'add', 'thief0', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', 'thief']);
    await run('ip', ['link', 'set', 'thief0', 'master', 'cni0', 'up']);
    await run('ip', ['-n', 'thief', 'link', 'set', 'eth0', 'up']);
    await run('ip', ['-n', 'thief', 'address', 'add', `${status.podIP}/24`, 'dev', 'eth0']);
    // the new pod announces itself repeatedly, as a pod with traffic does
    const announce = 'while :; do echo >/dev/udp/10.244.0.1/9; ip neigh flush all; sleep 0.2; done';
    const traffic = run('ip', ['netns', 'exec', 'thief', 'timeout', '60', 'bash', '-c', announce]).catch(
      () => {},
    );
    return async () => {
      // the loop's own commands may end before they are killed
      await run('sh', ['-c', 'kill $(ip netns pids thief) || true']);
      await traffic;
      await run('ip', ['link', 'delete', 'thief0']);
      await run('ip', ['netns', 'delete', 'thief']);
      await run('ip', ['neigh', 'flush', 'dev', 'cni0']);
    };
  },
};

for (const [name, breakIt] of Object.entries(faults)) {
  test(`${name}: the pod leaves its Service, and returns`, async (t) => {
    const { pod, others } = await choose();
    const events = await networkEvents();
    client.count();
    const start = performance.now();
    const mend = await breakIt(pod);
    let gone = '';
    let missed = 0;
    try {
      await left(pod, longest);
      gone = seconds(start);
      // connections to the pod that were in progress may still fail, and count as missed
      await sleep(1000);
      missed = client.count();
      await sleep(untilLost * 1000);
      assert.deepEqual(await ready(), others);
      assert.equal(client.count(), 0, 'connections to the pods that work');
    } finally {
      await mend();
    }
    const mended = performance.now();
    await eventually(async () => assert.equal((await ready()).size, replicas), 2 * interval);
    t.diagnostic(`left after ${gone} s, back after ${seconds(mended)} s; ${missed} failed connections`);
    assert.equal((await podOf(pod)).status.initContainerStatuses?.[0]?.restartCount, 0);
    const { uid } = pod.metadata;
    const expected = [...events, `${uid} NetworkLost`, `${uid} NetworkRecovered`].sort();
    await eventually(async () => assert.deepEqual(await networkEvents(), expected));
  });
}

test('a restart of the agent removes no pod from the Service', async () => {
  const lostBefore = client.removals();
  const path = `/api/v1/namespaces/linkerd-cni/pods?fieldSelector=spec.nodeName%3D${node.name}`;
  await api.delete(path);
  await eventually(async () => {
    const { items } = await api.get<{ items: Pod[] }>(path);
    assert.ok(items.length === 1 && items.every(isReady));
  }, 60);
  await sleep(longest * 1000);
  assert.equal(client.removals(), lostBefore);
});

test('a killed validator is restarted, and the pod is neither lost nor recreated', async (t) => {
  const { pod, others } = await choose();
  const start = performance.now();
  process.kill(processOf(pod, validatorContainer), 'SIGKILL');
  await eventually(async () => {
    const [own] = (await podOf(pod)).status.initContainerStatuses ?? [];
    assert.equal(own?.restartCount, 1);
  });
  await eventually(async () => assert.equal((await ready()).size, replicas), 60);
  t.diagnostic(`in the Service again after ${seconds(start)} s`);
  await sleep(interval * 1000);
  assert.deepEqual(await ready(), new Set([...others, pod.metadata.uid]));
});

test('with onFailure: recreate, repair recreates the lost pod and no other', async (t) => {
  await useOnFailure('recreate', 'recreate');
  const { pod, others } = await choose();
  const start = performance.now();
  await faults["the plugin's rules are flushed"]?.(pod);
  await left(pod, longest);
  const gone = seconds(start);
  // repair waits for a minute, because an agent's restart may restore the network
  await eventually(async () => {
    const now = await ready();
    assert.equal(now.size, replicas);
    assert.ok(!now.has(pod.metadata.uid));
    assert.ok([...others].every((uid) => now.has(uid)));
  }, 150);
  t.diagnostic(`left after ${gone} s, its replacement is in the Service after ${seconds(start)} s`);
});

test('a reboot: each pod is proved again, and none is lost', async () => {
  const runs = async (): Promise<(string | undefined)[]> => {
    const { items } = await api.get<{ items: Pod[] }>(`/api/v1/namespaces/${namespace}/pods`);
    assert.ok(items.every(isReady));
    return items.map(({ status }) => status.initContainerStatuses?.[0]?.containerID);
  };
  const earlier = await runs();
  const events = await networkEvents();
  await node.powerCut();
  await node.boot();
  await chained(node);
  await eventually(async () => {
    const now = await runs();
    assert.ok(now.every((id) => !earlier.includes(id)));
  }, 180);
  await sleep(longest * 1000);
  // repair has recreated the pods whose new proof ran before the plugin was in the chain
  assert.equal((await ready()).size, replicas);
  assert.deepEqual(await networkEvents(), events);
});

test('without the server, a lost pod leaves its Service too', async (t) => {
  await Promise.all(servers.map((server) => server.end('SIGKILL')));
  const { pod } = await choose();
  const start = performance.now();
  const mend = await faults["the plugin's rules are flushed"]?.(pod);
  await left(pod, longest);
  t.diagnostic(`left after ${seconds(start)} s`);
  await mend?.();
  await eventually(async () => assert.equal((await ready()).size, replicas), 2 * interval);
});

async function useOnFailure(onFailure: string, mode: string): Promise<void> {
  const linkerd = builtInProfiles().find((profile) => profile.name === 'linkerd');
  const continuous = { interval: `${interval}s`, failures, onFailure };
  const watched = { name: 'watched', proof: { witness: 'kubelet', continuous } };
  await configure(cluster, servers, { profiles: [linkerd, watched], repair: { mode } });
}

/** A ready pod, and the UIDs of the other ready pods. */
async function choose(): Promise<{ pod: Pod; others: Set<string> }> {
  const [uid = '', ...others] = await ready();
  return { pod: await podOf({ metadata: { uid } }), others: new Set(others) };
}

async function podOf({ metadata: { uid } }: { metadata: { uid: string } }): Promise<Pod> {
  const { items } = await api.get<{ items: Pod[] }>(`/api/v1/namespaces/${namespace}/pods`);
  const found = items.find((pod) => pod.metadata.uid === uid);
  assert.ok(found, `no pod ${uid}`);
  return found;
}

/** The UIDs of the Service's ready endpoints. */
async function ready(): Promise<Set<string>> {
  return new Set((await endpoints()).map(({ uid }) => uid));
}

async function endpoints(): Promise<{ uid: string; address: string }[]> {
  const { items } = await api.get<{ items: Slice[] }>(
    `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
  );
  return items
    .flatMap((slice) => slice.endpoints ?? [])
    .filter(({ conditions }) => conditions.ready)
    .map(({ addresses, targetRef }) => ({ uid: targetRef?.uid ?? '', address: addresses[0] ?? '' }));
}

async function left({ metadata }: Pod, within: number): Promise<void> {
  await eventually(async () => assert.ok(!(await ready()).has(metadata.uid)), within);
}

/** The UID of the pod, and the reason, of each event about a network that was lost or recovered. */
async function networkEvents(): Promise<string[]> {
  const { items } = await api.get<{ items: Event[] }>(
    `/apis/events.k8s.io/v1/namespaces/${namespace}/events`,
  );
  return items
    .filter(({ reason }) => reason.startsWith('Network'))
    .map(({ reason, regarding }) => `${regarding.uid} ${reason}`)
    .sort();
}

/** Connects to each ready endpoint ten times a second, as a client of the Service. */
function startClient() {
  let failed = 0;
  let removed = 0;
  let known = new Set<string>();
  let stopped = false;
  const loop = async (): Promise<void> => {
    while (!stopped) {
      const now = await endpoints().catch(() => undefined);
      if (now === undefined) continue;
      const uids = new Set(now.map(({ uid }) => uid));
      removed += [...known].filter((uid) => !uids.has(uid)).length;
      known = uids;
      const answers = await Promise.all(now.map(({ address }) => connects(address)));
      failed += answers.filter((isConnected) => !isConnected).length;
      await sleep(100);
    }
  };
  const running = loop();
  return {
    /** The number of failed connections since the last call. */
    count: (): number => {
      const result = failed;
      failed = 0;
      return result;
    },
    /** How often an endpoint was removed. */
    removals: (): number => removed,
    stop: (): Promise<void> => {
      stopped = true;
      return running;
    },
  };
}

const connects = (address: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: address, port: 8080, timeout: 300 });
    const settle = (isConnected: boolean): void => {
      socket.destroy();
      resolve(isConnected);
    };
    socket.on('connect', () => settle(true)).on('error', () => settle(false));
    socket.on('timeout', () => settle(false));
  });

/** The process ID of a pod's container, as the test process sees it. */
function processOf({ status }: Pod, name: string): number {
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  const id = all.find((container) => container.name === name)?.containerID?.split('//')[1] ?? '';
  const found = readdirSync('/proc').find((pid) => /^\d+$/.test(pid) && groupsOf(pid).includes(id));
  assert.ok(id !== '' && found, `no process of ${name} (${id})`);
  return Number(found);
}

function groupsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cgroup`, 'utf8');
  } catch {
    return '';
  }
}

const inPod = (pod: Pod, command: string, args: string[], input = ''): Promise<string> =>
  run('nsenter', ['--net', `--target=${processOf(pod, 'linkerd-proxy')}`, '--', command, ...args], input);

/** The name of the node's end of a pod's link. */
async function linkOf(pod: Pod): Promise<string> {
  const peer = /^\d+: eth0@if(\d+):/m.exec(await inPod(pod, 'ip', ['link']))?.[1];
  const name = new RegExp(`^${peer}: ([^@:]+)`, 'm').exec(await run('ip', ['link']))?.[1];
  assert.ok(name, `no link ${peer}`);
  return name;
}

const seconds = (start: number): string => ((performance.now() - start) / 1000).toFixed(1);
