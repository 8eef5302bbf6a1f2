/**
 * `npm run bench:create [-- --report PAGE]`: how much longer the creation of a pod takes where the API server calls cni-gate.
 * Pods are created through a real API server at a fixed rate, in turns in a namespace that opted in and in one that did
 * not. `CNI_GATE_BENCH_PODS` sets how many in each.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { profileLabel, validatorContainer } from '../../../webhook/lib/names.ts';
import type { Row } from '../../bench/report/figures.ts';
import { report } from '../../bench/report/report.ts';
import { Cluster } from '../harness/cluster.ts';
import { eventually } from '../harness/eventually.ts';
import { registration } from '../harness/registration.ts';
import { type GateServer, startServer } from '../harness/server.ts';
import { serviceAt } from '../harness/service.ts';
import { type Spread, spreadOf } from './figures.ts';

const pods = Number(process.env.CNI_GATE_BENCH_PODS ?? 500);
/** Pods of one turn, and how many are created in a second. */
const [turn, rate] = [50, 20];
/** Pods of each namespace before any is timed: both programs compile or cache what runs often. */
const warmUp = 200;
const own = { namespace: 'cni-gate', name: 'cni-gate' };
const namespaces = { with: 'opted-in', without: 'plain' };

interface Pod {
  spec: { initContainers?: { name: string }[] };
}

const podsOf = (namespace: string): string => `/api/v1/namespaces/${namespace}/pods`;

/** A pod as a StatefulSet makes it. Nobody schedules it. */
const recorded = new URL('../../reviews/pod-statefulset-db.json', import.meta.url);
const { metadata, spec } = JSON.parse(readFileSync(recorded, 'utf8')).request.object;
const pod = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: metadata.labels },
  spec: { ...spec, schedulerName: 'nobody' },
});

async function prepare(cluster: Cluster): Promise<GateServer> {
  const authority = join(cluster.folder, 'webhook-authority.pem');
  const server = await startServer({
    host: '10.254.1.1',
    args: [
      '--kubeconfig',
      cluster.admin.kubeconfig,
      '--own-namespace',
      own.namespace,
      '--tls-ca-out',
      authority,
    ],
  });
  const namespace = (name: string, labels: Record<string, string> = {}): object => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels },
  });
  await cluster.kubectl(['apply', '-f', '-'], {
    input: [
      namespace(own.namespace),
      namespace(namespaces.with, { [profileLabel]: 'cilium' }),
      namespace(namespaces.without),
      ...serviceAt(own.namespace, own.name, [server]),
      registration(own, readFileSync(authority)),
    ],
  });
  // the API server reads webhook configurations by a watch: it knows a new one after a moment
  await eventually(async () => {
    assert.equal(await injected(cluster, namespaces.with), true);
    assert.equal(await injected(cluster, namespaces.without), false);
  });
  return server;
}

/** Whether a pod there would get the init container. */
async function injected({ api }: Cluster, namespace: string): Promise<boolean> {
  const { spec } = await api.post<Pod>(`${podsOf(namespace)}?dryRun=All`, pod('asked-for'));
  return spec.initContainers?.some(({ name }) => name === validatorContainer) ?? false;
}

/** Creates pods at the fixed rate, whether earlier ones are answered or not. @returns milliseconds of each */
async function create({ api }: Cluster, namespace: string, count: number): Promise<number[]> {
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

async function measure(cluster: Cluster): Promise<Record<keyof typeof namespaces, Spread>> {
  const took: Record<keyof typeof namespaces, number[]> = { with: [], without: [] };
  for (const namespace of Object.values(namespaces)) await create(cluster, namespace, warmUp);
  const order = ['with', 'without'] as const;
  for (let done = 0; done < pods; done += turn) {
    // each is first in every other turn
    for (const name of (done / turn) % 2 === 0 ? order : order.toReversed()) {
      took[name].push(...(await create(cluster, namespaces[name], turn)));
    }
  }
  return { with: spreadOf(took.with), without: spreadOf(took.without) };
}

function rowsOf(spreads: Record<keyof typeof namespaces, Spread>): Row[] {
  const conditions = (name: keyof typeof namespaces): string =>
    `${spreads[name].count} pods, ${rate} a second, ${name} the webhook`;
  return (['p50', 'p99'] as const).flatMap((which): Row[] => [
    {
      figure: `creation of a pod, ${which}, the difference`,
      conditions: 'with the webhook less without it',
      measured: spreads.with[which] - spreads.without[which],
      unit: 'ms',
    },
    ...(['without', 'with'] as const).map((name) => ({
      figure: `creation of a pod, ${which}`,
      conditions: conditions(name),
      measured: spreads[name][which],
      unit: 'ms',
    })),
    {
      figure: `creation of a pod, ${which}`,
      conditions: 'with the webhook',
      measured: spreads.with[which] / spreads.without[which],
      unit: '× without the webhook',
    },
  ]);
}

const cluster = await Cluster.start();
try {
  const server = await prepare(cluster);
  try {
    const { gitVersion } = await cluster.api.get<{ gitVersion: string }>('/version');
    report('create', rowsOf(await measure(cluster)), { Kubernetes: gitVersion });
  } finally {
    await server.end();
  }
} finally {
  await cluster.stop();
}
