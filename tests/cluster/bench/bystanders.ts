/**
 * `npm run bench cluster`: how long pods of a namespace that did not opt in wait for their binding while the
 * gate holds others.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { bystander, type Pod, setTheScene } from '../gate/scene.ts';
import { podsOf } from '../gate/steps.ts';
import { Cluster } from '../harness/cluster.ts';
import { metric } from '../harness/metrics.ts';
import { spreadOf, table } from './figures.ts';
import { clear, situationsIn, waiting } from './situations.ts';

const rounds = 2;
/**
 * Pods whose binding is timed in each situation of a round, and how many of them are made in a second: for 22 s, as
 * pods that are held are tried together each 11 s.
 */
const pods = 440;
const rate = 20;
/** Flags of kube-scheduler to measure with, such as `--kube-api-qps=200 --kube-api-burst=400`. */
const flags = (process.env.CNI_GATE_BENCH_SCHEDULER ?? '').split(' ').filter(Boolean);

const cluster = await Cluster.start({ flags: { 'kube-scheduler': flags } });
if (flags.length > 0) console.log(`kube-scheduler ${flags.join(' ')}`);
const scene = await setTheScene(cluster, { host: '10.254.5.1' });
const situations = await situationsIn(cluster);
const took = new Map(Object.keys(situations).map((name) => [name, [] as number[]]));
const refusals = new Map<string, number>();
for (let round = 0; round < rounds; round += 1) {
  for (const [name, enter] of Object.entries(situations)) {
    await enter();
    const before = await refused();
    took.get(name)?.push(...(await bindings()));
    refusals.set(name, (refusals.get(name) ?? 0) + (await refused()) - before);
    await clear(cluster);
  }
}
report();
await scene.server.end();
await cluster.stop();

/** Bindings that were refused so far: 403 by a webhook, 422 by a policy. */
async function refused(): Promise<number> {
  const counts = ['403', '422'].map((code) =>
    metric(cluster.api, 'apiserver_request_total', { subresource: 'binding', code }),
  );
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

/** Makes pods one after another, as many a second as they come; the milliseconds from each request to its binding. */
async function bindings(): Promise<number[]> {
  const made = new Map<string, number>();
  const took = new Map<string, number>();
  const bound = cluster.api.until<Pod>(
    podsOf(bystander),
    ({ metadata: { name }, spec }) => {
      const start = made.get(name);
      if (spec.nodeName && start !== undefined && !took.has(name)) took.set(name, performance.now() - start);
      return took.size === pods;
    },
    120,
  );
  const begin = performance.now();
  const posts: Promise<unknown>[] = [];
  for (let index = 0; index < pods; index += 1) {
    await sleep(Math.max(0, begin + (index * 1000) / rate - performance.now()));
    const name = `bystander-${index}`;
    made.set(name, performance.now());
    posts.push(cluster.api.post(podsOf(bystander), waiting(name)));
  }
  await Promise.all([...posts, bound]);
  return [...took.values()];
}

function report(): void {
  const [first] = took.values();
  const base = spreadOf(first ?? []);
  const rows = [...took].map(([name, values]) => {
    const { p50, p99, count } = spreadOf(values);
    const refused = ((refusals.get(name) ?? 0) / rounds) * (rate / pods);
    return [name, `${count}`, p50, p99, p50 / base.p50, p99 / base.p99, refused];
  });
  table(['', 'pods', 'p50 ms', 'p99 ms', 'ratio p50', 'ratio p99', 'refusals/s'], rows);
}
