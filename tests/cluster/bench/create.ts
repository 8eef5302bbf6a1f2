/**
 * `npm run bench:create [-- --report PAGE]`: how much longer the creation of a pod takes where the API server calls cni-gate.
 * Pods are created through a real API server at a fixed rate, in turns in a namespace that opted in, in one that did
 * not, and in one for which it calls a bare `node:https` that changes nothing. `CNI_GATE_BENCH_PODS` sets how many in each.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createAuthority, issueServing } from '../../../certs/issue.ts';
import { profileLabel, validatorContainer } from '../../../webhook/lib/names.ts';
import type { Row } from '../../bench/report/figures.ts';
import { benchArguments, report } from '../../bench/report/report.ts';
import { mortal } from '../../support/mortal.ts';
import { Cluster } from '../harness/cluster.ts';
import { eventually } from '../harness/eventually.ts';
import { metric } from '../harness/metrics.ts';
import { registration } from '../harness/registration.ts';
import { type GateServer, startServer } from '../harness/server.ts';
import { serviceAt } from '../harness/service.ts';
import { type Spread, spreadOf } from './figures.ts';

benchArguments([]);
const pods = Number(process.env.CNI_GATE_BENCH_PODS ?? 500);
/** Pods of one turn, and how many are created in a second. */
const [turn, rate] = [50, 20];
/** Pods of each namespace before any is timed: both programs compile or cache what runs often. */
const warmUp = 200;
const own = { namespace: 'cni-gate', name: 'cni-gate' };
const bare = { namespace: own.namespace, name: 'bare' };
const bareLabel = 'bench.cni-gate.io/bare';
/** The namespaces, by what the API server calls for their pods. */
const namespaces = { 'no webhook': 'plain', 'a bare webhook': 'bare', 'cni-gate': 'opted-in' };
type Called = keyof typeof namespaces;

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
      namespace(namespaces['cni-gate'], { [profileLabel]: 'cilium' }),
      namespace(namespaces['a bare webhook'], { [bareLabel]: '' }),
      namespace(namespaces['no webhook']),
      ...serviceAt(own.namespace, own.name, [server]),
      registration(own, readFileSync(authority)),
      ...serviceAt(bare.namespace, bare.name, [await startBare(cluster)]),
      registration(bare, readFileSync(join(cluster.folder, 'ca.crt')), {
        name: 'bare.cni-gate.io',
        label: bareLabel,
      }),
    ],
  });
  // the API server reads webhook configurations by a watch: it knows a new one after a moment
  await eventually(async () => {
    assert.equal(await injected(cluster, namespaces['cni-gate']), true);
    assert.equal(await injected(cluster, namespaces['no webhook']), false);
    await injected(cluster, namespaces['a bare webhook']);
    const name = 'bare.cni-gate.io';
    assert.ok((await metric(cluster.api, 'apiserver_admission_webhook_request_total', { name })) > 0);
  });
  return server;
}

/** Starts a webhook that parses and answers. It ends with this process. */
async function startBare({ folder }: Cluster): Promise<{ host: string; port: number }> {
  const now = new Date();
  const authority = createAuthority({ commonName: 'bench', days: 1, now });
  const names = [`${bare.name}.${bare.namespace}.svc`];
  const { certificate, key } = issueServing(authority, { names, days: 1, now });
  const files = { 'ca.crt': authority.certificate, 'tls.crt': certificate, 'tls.key': key };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const [host, port] = ['10.254.1.2', 8443];
  const program = fileURLToPath(new URL('../../bench/peers/bare.ts', import.meta.url));
  spawn(...mortal(process.execPath, [program, String(port), folder, '0', host]), {
    stdio: 'inherit',
  }).unref();
  return { host, port };
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

async function measure(cluster: Cluster): Promise<Record<Called, Spread>> {
  const order = Object.keys(namespaces) as Called[];
  const took = Object.fromEntries(order.map((called): [Called, number[]] => [called, []])) as Record<
    Called,
    number[]
  >;
  for (const called of order) await create(cluster, namespaces[called], warmUp);
  for (let done = 0; done < pods; done += turn) {
    for (const called of order) took[called].push(...(await create(cluster, namespaces[called], turn)));
    // each is first in some turn
    order.push(...order.splice(0, 1));
  }
  return Object.fromEntries(order.map((called) => [called, spreadOf(took[called])])) as Record<
    Called,
    Spread
  >;
}

function rowsOf(spreads: Record<Called, Spread>): Row[] {
  const all = Object.keys(namespaces) as Called[];
  const none = spreads['no webhook'];
  const called = (name: Called): string => `the API server calls ${name}`;
  return (['p50', 'p99'] as const).flatMap((which): Row[] => [
    ...all.map((name) => ({
      figure: `creation of a pod, ${which}`,
      conditions: `${called(name)}; ${spreads[name].count} pods, ${rate} a second`,
      measured: spreads[name][which],
      unit: 'ms',
    })),
    ...all.slice(1).map((name) => ({
      figure: `what the creation gains, ${which}`,
      conditions: called(name),
      measured: spreads[name][which] - none[which],
      unit: 'ms',
    })),
    ...all.slice(1).map((name) => ({
      figure: `creation of a pod, ${which}`,
      conditions: called(name),
      measured: spreads[name][which] / none[which],
      unit: '× without a webhook',
    })),
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
