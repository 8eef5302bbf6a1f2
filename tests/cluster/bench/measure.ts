import { join } from 'node:path';
import type { Pod } from '../gate/scene.ts';
import type { Cluster } from '../harness/cluster.ts';
import { compact } from '../harness/etcd.ts';
import { eventually } from '../harness/eventually.ts';
import { type GateServer, startServer } from '../harness/server.ts';
import { spreadOf, timed } from './figures.ts';
import { Reviews } from './reviews.ts';
import { durationsOf, listsOf, memoryOf, metricsOf, nodesKnown } from './vitals.ts';

const calls = 20_000;

/** The heap that Node takes of itself with 512 MiB of memory, the limit in the manifests: half of it. */
const asInstalled = { NODE_OPTIONS: '--max-old-space-size=256' };

/**
 * Starts a server in the cluster as it is, and measures it.
 *
 * @param pods that wait for a node
 * @returns each figure by its name and unit
 */
export async function measure(
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
