/**
 * Part of `npm run bench cluster`: what `cni-gate serve` needs in a cluster of 5,000 nodes with a DaemonSet pod on
 * each, beside one of 5 nodes.
 */
import { daemonSet, networkNamespace, optedIn, type Pod, podOn, setTheScene } from '../gate/scene.ts';
import { podsOf } from '../gate/steps.ts';
import { Cluster } from '../harness/cluster.ts';
import { table } from './figures.ts';
import { fill } from './fill.ts';
import { measure } from './measure.ts';

const few = 5;
const many = 5000;
const pending = 100;
/** Every fiftieth node is not ready. */
const ready = (index: number): boolean => index % 50 !== 1;

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
