import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '../../cluster/harness/api.ts';
import { makeNamespace } from '../../cluster/installed/working.ts';
import { makeOneToSteer, whereItWent } from './innocents.ts';
import { daemonSetWith, largeOn, optedIn, other, outside, podsOf, spare, withLongClaim } from './objects.ts';
import type { Stage } from './stage.ts';

/** So many objects are made side by side: a tenant's share of the API server's queues. */
const sideBySide = 4;
/** Bytes of a large pod: the whole of it has to fit into 1.5 MiB, which is what etcd takes. */
const podBytes = 1_300_000;
/** On each node: 14 of them were more than steering read of a node once. */
const podsOnNode = 14;
/** How long a pod may take that is steered, in seconds. The scheduler lets it pause for ten after some refusals. */
const patience = 60;
/** 1.4 MB as JSON. */
const tolerations = 55_000;

/** Makes objects, one after another. @param object the object of each number */
export async function makeNumbered(
  api: Api,
  path: string,
  count: number,
  object: (index: number) => object,
): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < count) {
      const index = next;
      next += 1;
      await api.post(path, object(index));
    }
  };
  await Promise.all(Array.from({ length: sideBySide }, work));
}

/** Large pods on both nodes that a pod can be steered to, then pods that have to be. */
export async function crowdNodes({ api }: Stage): Promise<void> {
  for (const node of [spare, other]) {
    await makeNumbered(api, podsOf(outside), podsOnNode, (index) =>
      largeOn(node, `large-${node}-${index}`, podBytes),
    );
  }
  const names = Array.from({ length: 5 }, (_, index) => `beside-large-${index}`);
  await Promise.all(names.map((name) => makeOneToSteer(api, name)));
  await Promise.all(names.map((name) => whereItWent(api, name, patience)));
}

/** Pods with our label that are as large as can be, in a namespace that did not opt in and in one that did. */
export async function makeLargePods({ api }: Stage, count: number): Promise<void> {
  for (const namespace of [outside, optedIn]) {
    await makeNumbered(api, podsOf(namespace), count, (index) => withLongClaim(`large-${index}`, podBytes));
  }
}

const daemonSetsOf = (namespace: string): string => `/apis/apps/v1/namespaces/${namespace}/daemonsets`;

/** The largest DaemonSets, one by the name that profile `linkerd` gives; then replicas restart. */
export async function makeLargeDaemonSets({ cluster, api, replicas }: Stage, count: number): Promise<void> {
  await makeNumbered(api, daemonSetsOf(outside), count, (index) =>
    daemonSetWith(`large-${index}`, tolerations),
  );
  await makeNamespace(cluster, 'linkerd-cni');
  await api.post(daemonSetsOf('linkerd-cni'), daemonSetWith('linkerd-cni', tolerations));
  for (const replica of replicas) {
    await replica.restart('SIGTERM');
    // long enough to see what it does with what it read
    await sleep(3000);
  }
}
