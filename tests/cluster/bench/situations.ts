import { setTimeout as sleep } from 'node:timers/promises';
import { bystander, daemonSet, onNode, optedIn, type Pod, podOn } from '../gate/scene.ts';
import { podsOf, scheduled, stepsIn } from '../gate/steps.ts';
import type { Cluster } from '../harness/cluster.ts';
import { addNode } from '../harness/nodes.ts';
import { refuseByPolicy } from './policy.ts';

/** As many as a node takes. */
const held = 110;
const nodes = ['n1', 'n2', 'n3', 'n4', 'n5'];
const webhooks = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';

/** Ways to bring the cluster into each situation that is compared; the first is the measure of the others. */
export async function situationsIn(cluster: Cluster): Promise<Record<string, () => Promise<void>>> {
  const { api } = cluster;
  const { agentOn, apply, says, setReady } = stepsIn(cluster);
  for (const name of nodes) await addNode(cluster, name, { capacity: { cpu: '1000', pods: '1000' } });
  await apply(daemonSet('agent'));
  for (const name of nodes) await agentOn(name);
  await setReady(await agentOn('n1'), false);
  await says('refused', 'n1', 30);
  const stored = await api.get<{ webhooks: object[] }>(`${webhooks}/cni-gate`);
  let registered = true;
  let leave = async (): Promise<void> => {};
  const register = async (wanted: boolean): Promise<void> => {
    await leave();
    leave = async () => {};
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
  const settled = async (): Promise<void> => {
    const since = performance.now();
    await crowd();
    await everyRefused(cluster);
    // by then the scheduler lets each pause for ten seconds
    await sleep(Math.max(0, since + 25_000 - performance.now()));
  };
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
    'no gate, a policy refuses 110 pods that come': async () => {
      await register(false);
      leave = await refuseByPolicy(cluster);
      await crowd();
    },
    'gate, 110 pods are held': async () => {
      await register(true);
      await settled();
    },
    'no gate, a policy holds 110 pods': async () => {
      await register(false);
      leave = await refuseByPolicy(cluster);
      await settled();
    },
  };
}

/** A pod that kwok leaves alone, so that binding is all that happens to it. */
export const waiting = (name: string, node?: string): object => {
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

/** Takes all pods of both namespaces away. */
export async function clear({ api }: Cluster): Promise<void> {
  for (const namespace of [bystander, optedIn]) {
    await api.delete(`${podsOf(namespace)}?gracePeriodSeconds=0`);
    // the answer comes when all are deleted
    const { items } = await api.get<{ items: Pod[] }>(podsOf(namespace));
    if (items.length > 0) throw new Error(`${items.length} pods of ${namespace} are left`);
  }
}
