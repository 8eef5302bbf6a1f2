import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '../../cluster/harness/api.ts';
import { makeNamespace } from '../../cluster/installed/working.ts';
import { makeOneToSteer, whereItWent } from './innocents.ts';
import { daemonSetWith, largeOn, optedIn, other, outside, podsOf, spare, withLongClaim } from './objects.ts';
import type { Stage } from './stage.ts';

/** How many requests run at the same time: a tenant's share of the API server's queues. */
const sideBySide = 4;
/** Size of a large pod's filler in bytes. The whole pod has to fit into 1.5 MiB, which is etcd's limit. */
const podBytes = 1_300_000;
/** How many large pods each node gets: more than steering could read from a node in an earlier version. */
const podsOnNode = 14;
/** How many seconds a steered pod may wait for its node. After some refusals, the scheduler pauses for 10 s. */
const patience = 60;
/** Tolerations of a large DaemonSet, which has 1.4 MB as JSON. */
const tolerations = 55_000;

/** Creates `count` objects, several at the same time. @param object returns the object with the given index */
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

/** Fills both nodes to which pods can be steered with large pods, and then makes pods that have to be steered. */
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

/** Makes very large pods with our label, in a namespace that did not opt in and in one that did. */
export async function makeLargePods({ api }: Stage, count: number): Promise<void> {
  for (const namespace of [outside, optedIn]) {
    await makeNumbered(api, podsOf(namespace), count, (index) => withLongClaim(`large-${index}`, podBytes));
  }
}

const daemonSetsOf = (namespace: string): string => `/apis/apps/v1/namespaces/${namespace}/daemonsets`;

/** Makes very large DaemonSets, one of them under the name in profile `linkerd`. Then the replicas restart. */
export async function makeLargeDaemonSets({ cluster, api, replicas }: Stage, count: number): Promise<void> {
  await makeNumbered(api, daemonSetsOf(outside), count, (index) =>
    daemonSetWith(`large-${index}`, tolerations),
  );
  await makeNamespace(cluster, 'linkerd-cni');
  await api.post(daemonSetsOf('linkerd-cni'), daemonSetWith('linkerd-cni', tolerations));
  for (const replica of replicas) {
    await replica.restart('SIGTERM');
    // gives the replica time to process what it has read
    await sleep(3000);
  }
}
