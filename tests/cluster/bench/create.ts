/**
 * `npm run bench create [-- --report PAGE]`: how much longer the creation of a pod takes where the
 * API server calls cni-gate. Pods are created through a real API server at a fixed rate, in turns in namespaces that
 * differ in what it goes through. `CNI_GATE_BENCH_PODS` sets how many pods in each. `CNI_GATE_BENCH_BESIDE`
 * adds the server, webhook and policy of another checkout, whose packages are installed.
 */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { profileLabel } from '../../../webhook/lib/names.ts';
import { median } from '../../bench/load.ts';
import type { Row } from '../../bench/report/figures.ts';
import { benchArguments, report } from '../../bench/report/report.ts';
import { recorded } from '../../support/reviews.ts';
import { Cluster } from '../harness/cluster.ts';
import { eventually } from '../harness/eventually.ts';
import { metric } from '../harness/metrics.ts';
import { makeNamespace } from '../installed/working.ts';
import { nameOf, register } from './admission-path.ts';
import { type Caller, startGate, startPeer } from './callers.ts';
import { spreadOf } from './figures.ts';

benchArguments([]);
/** Another checkout, to compare with. */
const checkout = process.env.CNI_GATE_BENCH_BESIDE;
const pods = Number(process.env.CNI_GATE_BENCH_PODS ?? 500);
/** Pods of one turn, and how many are created in a second. */
const [turn, rate] = [50, 20];
/** Pods of each namespace before any is timed: both programs compile or cache what runs often. */
const warmUp = 200;

/** The namespaces, by what the API server goes through for their pods. */
const ways = {
  none: 'no webhook',
  peer: 'a webhook on controller-runtime',
  gate: 'the webhook of cni-gate',
  installed: 'webhook and policy of cni-gate',
  before: 'webhook and policy of another checkout',
};
type Way = keyof typeof ways;
const order = (Object.keys(ways) as Way[]).filter((way) => way !== 'before' || checkout !== undefined);

interface Pod {
  metadata: { labels: Record<string, string>; annotations?: Record<string, string> };
  spec: { initContainers?: object[] };
}

const podsOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;

/** A pod as a StatefulSet makes it. It is never scheduled. */
const { metadata, spec } = recorded('pod-statefulset-db').request.object;
const pod = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: metadata.labels },
  spec: { ...spec, schedulerName: 'nobody' },
});

/** What the API server makes of a pod. */
const tried = ({ api }: Cluster, namespace: Way): Promise<Pod> =>
  api.post<Pod>(`${podsOf(namespace)}?dryRun=All`, pod('tried'));

/** The pod with an init container, once the API server knows the webhook: it learns of it by a watch. */
async function injected(cluster: Cluster, namespace: Way): Promise<Pod> {
  let found: Pod | undefined;
  await eventually(async () => {
    found = await tried(cluster, namespace);
    assert.equal(found.spec.initContainers?.length, 1);
  });
  return found as Pod;
}

/** Starts and registers all callers. */
async function prepare(cluster: Cluster): Promise<void> {
  for (const way of order) await makeNamespace(cluster, way, { [profileLabel]: 'cilium' });
  await makeNamespace(cluster, 'cni-gate');
  const add = async (namespace: Way, caller: Caller, policy: boolean, from?: string): Promise<Pod> => {
    await register(cluster, { namespace, ...caller, policy, checkout: from });
    return await injected(cluster, namespace);
  };
  const ours = await startGate(cluster, 'cni-gate', '10.254.1.1');
  const wanted = await add('gate', ours, false);
  const peer = await startPeer(cluster, 'peer', '10.254.1.2', wanted);
  const all = [await add('peer', peer, false), await add('installed', ours, true)];
  if (checkout !== undefined) {
    const other = await startGate(cluster, 'before', '10.254.1.3', checkout);
    all.push(await add('before', other, true, checkout));
  }
  for (const { spec } of all) assert.deepEqual(spec, wanted.spec, 'not the same change');
}

/** Creates pods at the fixed rate, whether earlier ones are answered or not. @returns milliseconds of each */
async function create({ api }: Cluster, namespace: Way, count: number): Promise<number[]> {
  const begin = performance.now();
  const took: Promise<number>[] = [];
  for (let index = 0; index < count; index += 1) {
    await sleep(Math.max(0, begin + (index * 1000) / rate - performance.now()));
    const start = performance.now();
    took.push(api.post(podsOf(namespace), pod(`p-${index}`)).then(() => performance.now() - start));
  }
  const all = await Promise.all(took);
  await api.delete(`${podsOf(namespace)}?gracePeriodSeconds=0`);
  return all;
}

const controllers = 'apiserver_admission_controller_admission_duration_seconds_sum';
const webhooks = 'apiserver_admission_webhook_admission_duration_seconds';
const created = (name: string): Record<string, string> => ({ name, operation: 'CREATE' });

/** What the API server says of its work since it started: a metric and its labels. */
const parts = {
  'all of mutating webhooks, with their conditions and patches': [
    controllers,
    () => created('MutatingAdmissionWebhook'),
  ],
  'calls of the webhook': [`${webhooks}_sum`, (way: Way) => created(nameOf(way))],
  'policies over final pods': [controllers, () => created('ValidatingAdmissionPolicy')],
  'number of calls': [`${webhooks}_count`, (way: Way) => created(nameOf(way))],
} as const;
type Part = keyof typeof parts;
const partNames = Object.keys(parts) as Part[];

async function partsOf({ api }: Cluster, way: Way): Promise<Record<Part, number>> {
  const read = partNames.map(async (part) => {
    const [name, labels] = parts[part];
    return [part, await metric(api, name, labels(way))];
  });
  return Object.fromEntries(await Promise.all(read));
}

interface Measured {
  /** Milliseconds of each creation, by turn. */
  turns: number[][];
  /** By turn, for one pod: milliseconds, or how many. */
  parts: Record<Part, number>[];
}

async function measure(cluster: Cluster): Promise<Map<Way, Measured>> {
  for (const way of order) await create(cluster, way, warmUp);
  const all = new Map(order.map((way): [Way, Measured] => [way, { turns: [], parts: [] }]));
  const next = [...order];
  for (let done = 0; done < pods; done += turn) {
    for (const way of next) {
      const before = await partsOf(cluster, way);
      all.get(way)?.turns.push(await create(cluster, way, turn));
      const after = await partsOf(cluster, way);
      const each = partNames.map((part) => [part, (after[part] - before[part]) / turn]);
      all.get(way)?.parts.push(Object.fromEntries(each));
    }
    // each is first in some turn
    next.push(...next.splice(0, 1));
  }
  return all;
}

function rowsOf(all: Map<Way, Measured>): Row[] {
  const ofTurns = (way: Way): number[] => (all.get(way)?.turns ?? []).map((took) => spreadOf(took).p50);
  const none = ofTurns('none');
  /** What the creation gains at the median: of each turn, beside the one without a webhook next to it. */
  const gain = (way: Way): number =>
    median(ofTurns(way).map((took, index) => took - (none[index] ?? Number.NaN)));
  const through = (way: Way): string => `the API server goes through ${ways[way]}`;
  const called = order.filter((way) => way !== 'none');
  const beside = (way: Way, other: Way, atMost: number): Row => ({
    figure: 'what the creation gains',
    conditions: through(way),
    measured: gain(way) / gain(other),
    unit: `× ${ways[other]}`,
    aim: { atMost },
  });
  return [
    ...(['p50', 'p99'] as const).flatMap((which) =>
      order.map((way): Row => {
        const spread = spreadOf(all.get(way)?.turns.flat() ?? []);
        const conditions = `${through(way)}; ${spread.count} pods, ${rate} a second`;
        return { figure: `creation of a pod, ${which}`, conditions, measured: spread[which], unit: 'ms' };
      }),
    ),
    ...called.map((way): Row => {
      const figure = 'what the creation gains, p50';
      return { figure, conditions: through(way), measured: gain(way), unit: 'ms' };
    }),
    beside('gate', 'peer', 1.3),
    beside('installed', 'peer', 1.3),
    ...(order.includes('before') ? [beside('installed', 'before', 0.5)] : []),
    ...partNames.flatMap((part) =>
      called.map((way): Row => {
        const times = part === 'number of calls';
        const measured = median((all.get(way)?.parts ?? []).map((turn) => turn[part] * (times ? 1 : 1000)));
        return { figure: `${part}, for a pod`, conditions: ways[way], measured, unit: times ? '' : 'ms' };
      }),
    ),
  ];
}

const cluster = await Cluster.start();
try {
  await prepare(cluster);
  const { gitVersion } = await cluster.api.get<{ gitVersion: string }>('/version');
  report('create', rowsOf(await measure(cluster)), { Kubernetes: gitVersion });
} finally {
  await cluster.stop();
}
// ends the webhooks as well
process.exit();
