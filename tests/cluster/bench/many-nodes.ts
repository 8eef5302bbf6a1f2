/**
 * Part of `npm run bench:cluster`: what `cni-gate serve` needs in a cluster of 5,000 nodes with a DaemonSet pod on
 * each, beside one of 5 nodes.
 */
import { join } from 'node:path';
import { daemonSet, networkNamespace, optedIn, type Pod, podOn, setTheScene } from '../gate/scene.ts';
import { podsOf } from '../gate/steps.ts';
import { Cluster } from '../harness/cluster.ts';
import { compact } from '../harness/etcd.ts';
import { eventually } from '../harness/eventually.ts';
import { type GateServer, startServer } from '../harness/server.ts';
import { spreadOf, table, timed } from './figures.ts';
import { fill } from './fill.ts';
import { Reviews } from './reviews.ts';
import { durationsOf, listsOf, memoryOf, metricsOf, nodesKnown } from './vitals.ts';

const few = 5;
const many = 5000;
const pending = 100;
const calls = 20_000;
/** Every fiftieth node is not ready. */
const ready = (index: number): boolean => index % 50 !== 1;

/** The heap that Node takes of itself with 512 MiB of memory, the limit in the manifests: half of it. */
const asInstalled = { NODE_OPTIONS: '--max-old-space-size=256' };

/** Prints the figures. */
export async function benchManyNodes(): Promise<void> {
  const cluster = await Cluster.start();
  try {
    const pods = await prepare(cluster);
    const { metadata } = await cluster.api.get<{ metadata: { uid: string } }>(
      `/apis/apps/v1/namespaces/${networkNamespace}/daemonsets/agent`,
    );
    await fill(cluster, metadata.uid, [0, few], ready);
    const small = await measure(cluster, pods, few);
    const start = performance.now();
    await fill(cluster, metadata.uid, [few, many], ready);
    console.log(`${many} nodes and their pods were made in ${seconds(performance.now() - start)} s`);
    const list = await rawList(cluster);
    const large = await measure(cluster, pods, many);
    console.log(`their lists: ${list.mebibytes.toFixed(1)} MiB; read and parsed alone in ${list.took} s`);
    table(
      ['', `${few} nodes`, `${many} nodes`, 'ratio'],
      Object.entries(small).map(([name, value]) => {
        const other = large[name] ?? Number.NaN;
        return [name, value, other, other / value];
      }),
    );
  } finally {
    await cluster.stop();
  }
}

/** Brings about the DaemonSet and pods that wait for a node, and ends what would look after them. */
async function prepare(cluster: Cluster): Promise<Pod[]> {
  const { api, components } = cluster;
  const scene = await setTheScene(cluster, { host: '10.254.5.2' });
  for (const namespace of [networkNamespace, optedIn]) {
    await api.until(`/api/v1/namespaces/${namespace}/serviceaccounts`, () => true);
  }
  for (const name of ['kube-controller-manager', 'kube-scheduler', 'kwok'] as const) {
    await components[name].stop();
  }
  await cluster.kubectl(['apply', '-f', '-'], { input: [daemonSet('agent')] });
  const pods = await Promise.all(
    Array.from({ length: pending }, (_, index) => api.post<Pod>(podsOf(optedIn), podOn(`web-${index}`))),
  );
  await scene.server.end();
  return pods;
}

/** Starts a server in the cluster as it is, and measures it. */
async function measure(
  cluster: Cluster,
  pods: readonly Pod[],
  nodes: number,
): Promise<Record<string, number>> {
  const files = ['--kubeconfig', cluster.admin.kubeconfig, '--config', join(cluster.folder, 'cni-gate.yaml')];
  const start = performance.now();
  const server = await startServer({
    host: '10.254.5.3',
    args: [...files, '--own-namespace', 'cni-gate'],
    environment: asInstalled,
  });
  try {
    const synced = await knowsAll(server, nodes, start);
    const listed = memoryOf(server);
    const scrapes = spreadOf(await timed(20, () => metricsOf(server)));
    const before = await durationsOf(server);
    const reviews = new Reviews(server, pods);
    // the first ones warm it up
    await timed(2000, (index) => reviews.ask(index, nodes));
    const trips = spreadOf(await timed(calls, (index) => reviews.ask(index, nodes)));
    reviews.close();
    const decisions = (await durationsOf(server)).since(before);
    const later = memoryOf(server);
    await listAnew(cluster, server);
    return {
      'start to all known, s': synced / 1000,
      'memory when all is known, MiB': listed.now,
      'memory after the calls, MiB': later.now,
      'memory at its most, MiB': later.peak,
      'and once all was listed anew, MiB': memoryOf(server).peak,
      'decision p50, us': decisions.at(0.5) * 1e6,
      'decision p99, us': decisions.at(0.99) * 1e6,
      'call p50, ms': trips.p50,
      'call p99, ms': trips.p99,
      'scrape p50, ms': scrapes.p50,
    };
  } finally {
    await server.end();
  }
}

/** Waits until the server tells of so many nodes; the milliseconds since its start. */
async function knowsAll(server: GateServer, nodes: number, start: number): Promise<number> {
  // the metrics of 5,000 nodes, asked for again and again, would slow it down
  await eventually(async () => {
    if (!(await fetch(`http://${server.host}:${server.opsPort}/readyz`)).ok) throw new Error('not ready');
  }, 60);
  // it is ready after ten seconds whatever it knows
  await eventually(async () => {
    const known = nodesKnown(await metricsOf(server));
    if (known !== nodes) throw new Error(`it knows ${known} of ${nodes} nodes`);
  }, 60);
  return performance.now() - start;
}

/** Makes the server list all nodes again while it has them, as after any outage that was long enough. */
async function listAnew(cluster: Cluster, server: GateServer): Promise<void> {
  const lists = async (): Promise<number> => listsOf(await metricsOf(server), 'nodes');
  const before = await lists();
  const apiServer = cluster.components['kube-apiserver'];
  await apiServer.stop();
  await compact(cluster);
  await apiServer.start();
  await eventually(async () => {
    if ((await lists()) <= before) throw new Error('nodes were not listed again');
  }, 120);
}

/** The lists that the server begins with, read by nobody but this process. */
async function rawList({ api }: Cluster): Promise<{ mebibytes: number; took: string }> {
  const start = performance.now();
  let bytes = 0;
  for (const path of ['/api/v1/nodes', podsOf(networkNamespace)]) {
    for (let token: string | undefined = ''; token !== undefined; ) {
      const page: string = await api.text(`${path}?limit=500&continue=${encodeURIComponent(token)}`);
      bytes += Buffer.byteLength(page);
      token = JSON.parse(page).metadata.continue;
    }
  }
  return { mebibytes: bytes / 2 ** 20, took: seconds(performance.now() - start) };
}

const seconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(1);
