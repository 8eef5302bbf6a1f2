import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../../../webhook/lib/errors.ts';
import { validatorContainer } from '../../../webhook/lib/names.ts';
import type { Api } from '../../cluster/harness/api.ts';
import type { Innocents } from '../harness/direct-innocents.ts';
import { broken, innocent, network, networkLabel, other, pod, podsOf, preferring, spare } from './objects.ts';

/** Pods are made by this many workers, at least this many milliseconds apart: faster than in a busy cluster. */
const [sideBySide, apart] = [4, 10];
/** One in this many pods prefers the node that is not ready. The gate refuses it there, and it is steered elsewhere. */
const steeredOneIn = 50;

let rounds = 0;

/** Makes ordinary pods in a namespace that opted in, until `during` ends. A pod without a proof counts as failed. */
export async function makeInnocents(api: Api, least: number, during: Promise<unknown>): Promise<Innocents> {
  rounds += 1;
  const prefix = `web-${rounds}`;
  const result: Innocents = { count: 0, failed: [], took: [], retries: 0 };
  let isOver = false;
  const over = during.then(() => {
    isOver = true;
  });
  const work = async (): Promise<void> => {
    while (result.count < least || !isOver) {
      result.count += 1;
      const began = performance.now();
      const failed = await makeOne(api, `${prefix}-${result.count}`, result.count % steeredOneIn === 1);
      if (failed !== undefined) result.failed.push(failed);
      const took = performance.now() - began;
      result.took.push(took);
      await sleep(Math.max(0, apart * sideBySide - took));
    }
  };
  await Promise.all([...Array.from({ length: sideBySide }, work), over]);
  return result;
}

interface Made {
  spec: { initContainers?: { name: string }[] };
}

async function makeOne(api: Api, name: string, steered: boolean): Promise<string | undefined> {
  const spec = steered ? { affinity: preferring(broken) } : {};
  try {
    const made = await api.post<Made>(podsOf(innocent), pod(name, { spec }));
    return made.spec.initContainers?.[0]?.name === validatorContainer ? undefined : 'it has no proof';
  } catch (error) {
    return messageOf(error);
  }
}

interface Placed {
  metadata: { name: string };
  spec: { nodeName?: string };
}

/** Makes a pod that prefers the broken node of the three. The scheduler takes it first, because of its priority. */
export const makeOneToSteer = (api: Api, name: string): Promise<unknown> =>
  api.post(podsOf(innocent), pod(name, { spec: { affinity: preferring(broken), ...toThree } }));

const toThree = {
  nodeSelector: { [networkLabel]: network.name },
  priorityClassName: 'system-cluster-critical',
};

/** Waits until a pod of {@link makeOneToSteer} has a node. @returns the node */
export async function whereItWent(api: Api, name: string, seconds: number): Promise<string> {
  const path = `${podsOf(innocent)}?fieldSelector=metadata.name%3D${name}`;
  const { spec } = await api.until<Placed>(path, (one) => one.spec.nodeName !== undefined, seconds);
  const node = spec.nodeName ?? '';
  if (node !== spare && node !== other) throw new Error(`pod ${name} went to node ${node}`);
  return node;
}

export async function onBroken(api: Api, namespaces: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    namespaces.map(async (namespace) => {
      const path = `${podsOf(namespace)}?fieldSelector=spec.nodeName%3D${broken}`;
      const { items } = await api.get<{ items: Placed[] }>(path);
      return items.map(({ metadata }) => `${namespace}/${metadata.name}`);
    }),
  );
  return found.flat();
}
