/**
 * Part of `npm run bench:cluster`: how long pods of a namespace that did not opt in wait for their binding while the
 * gate holds others.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { bystander, daemonSet, onNode, optedIn, type Pod, podOn, setTheScene } from '../gate/scene.ts';
import { podsOf, scheduled, stepsIn } from '../gate/steps.ts';
import { Cluster } from '../harness/cluster.ts';
import { addNode } from '../harness/nodes.ts';
import { spreadOf, table } from './figures.ts';

const rounds = 2;
/**
 * Pods whose binding is timed in each situation of a round, and how many of them are made in a second: for 22 s, as
 * pods that are held are tried together each 11 s.
 */
const pods = 440;
const rate = 20;
/** As many as a node takes. */
const held = 110;
const nodes = ['n1', 'n2', 'n3', 'n4', 'n5'];
const webhooks = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';

/** Prints the figures. */
export async function benchBystanders(): Promise<void> {
  const cluster = await Cluster.start();
  const scene = await setTheScene(cluster, { host: '10.254.5.1' });
  try {
    const situations = await prepare(cluster);
    const took = new Map(Object.keys(situations).map((name) => [name, [] as number[]]));
    const refusals = new Map<string, number>();
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, enter] of Object.entries(situations)) {
        await enter();
        const before = scene.server.lines.length;
        took.get(name)?.push(...(await bindings(cluster)));
        const refused = scene.server.lines.slice(before).filter(({ outcome }) => outcome === 'refused');
        refusals.set(name, (refusals.get(name) ?? 0) + refused.length);
        await clear(cluster);
      }
    }
    report(took, refusals);
  } finally {
    await scene.server.end();
    await cluster.stop();
  }
}

/** Ways to bring the cluster into each situation that is compared; the first is the measure of the others. */
async function prepare(cluster: Cluster): Promise<Record<string, () => Promise<void>>> {
  const { api } = cluster;
  const { agentOn, apply, says, setReady } = stepsIn(cluster);
  for (const name of nodes) await addNode(cluster, name, { capacity: { cpu: '1000', pods: '1000' } });
  await apply(daemonSet('agent'));
  for (const name of nodes) await agentOn(name);
  await setReady(await agentOn('n1'), false);
  await says('refused', 'n1', 30);
  const stored = await api.get<{ webhooks: object[] }>(`${webhooks}/cni-gate`);
  let registered = true;
  const register = async (wanted: boolean): Promise<void> => {
    if (wanted === registered) return;
    const metadata = { name: 'cni-gate' };
    if (wanted) await api.post(webhooks, { metadata, webhooks: stored.webhooks });
    else await api.delete(`${webhooks}/cni-gate`);
    registered = wanted;
    await says(wanted ? 'refused' : 'allowed', 'n1', 30);
    await clear(cluster);
  };
  const crowd = (): Promise<unknown> =>
    Promise.all(
      Array.from({ length: held }, (_, index) => api.post(podsOf(optedIn), waiting(`held-${index}`, 'n1'))),
    );
  return {
    'no gate': () => register(false),
    'no gate, 110 pods come': async () => {
      await register(false);
      await crowd();
    },
    'gate, none held': () => register(true),
    'gate, 110 pods come and are held': async () => {
      await register(true);
      await crowd();
    },
    'gate, 110 pods are held': async () => {
      await register(true);
      const since = new Date();
      await crowd();
      await everyRefused(cluster);
      // by then the scheduler lets each pause for ten seconds
      await sleep(Math.max(0, 25_000 - (Date.now() - since.getTime())));
    },
  };
}

/** A pod that kwok leaves alone, so that binding is all that happens to it. */
const waiting = (name: string, node?: string): object => {
  const pod = podOn(name, { namespace: node ? optedIn : bystander, spec: node ? onNode(node) : {} });
  return { ...pod, metadata: { name, annotations: { 'cni-gate.test/held': '' } } };
};

async function everyRefused({ api }: Cluster): Promise<void> {
  const seen = new Set<string>();
  await api.until<Pod>(podsOf(optedIn), (pod) => {
    if (scheduled(pod)?.message?.includes('denied')) seen.add(pod.metadata.name);
    return seen.size === held;
  });
}

/** Makes pods one after another, as many a second as they come; the milliseconds from each request to its binding. */
async function bindings({ api }: Cluster): Promise<number[]> {
  const made = new Map<string, number>();
  const took = new Map<string, number>();
  const bound = api.until<Pod>(
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
    posts.push(api.post(podsOf(bystander), waiting(name)));
  }
  await Promise.all([...posts, bound]);
  return [...took.values()];
}

/** Takes all pods of both namespaces away. */
async function clear({ api }: Cluster): Promise<void> {
  for (const namespace of [bystander, optedIn]) {
    await api.delete(`${podsOf(namespace)}?gracePeriodSeconds=0`);
    // the answer comes when all are deleted
    const { items } = await api.get<{ items: Pod[] }>(podsOf(namespace));
    if (items.length > 0) throw new Error(`${items.length} pods of ${namespace} are left`);
  }
}

function report(took: Map<string, number[]>, refusals: Map<string, number>): void {
  const [first] = took.values();
  const base = spreadOf(first ?? []);
  const rows = [...took].map(([name, values]) => {
    const { p50, p99, count } = spreadOf(values);
    const refused = ((refusals.get(name) ?? 0) / rounds) * (rate / pods);
    return [name, `${count}`, p50, p99, p50 / base.p50, p99 / base.p99, refused];
  });
  table(['', 'pods', 'p50 ms', 'p99 ms', 'ratio p50', 'ratio p99', 'refusals/s'], rows);
}
