import { setTimeout as sleep } from 'node:timers/promises';
import { makeNamespace } from '../../cluster/installed/working.ts';
import { makeNumbered } from './many.ts';
import { daemonSetWith, outside } from './objects.ts';
import type { Stage } from './stage.ts';

/** 1.4 MB as JSON. */
const tolerations = 55_000;

const daemonSetsOf = (namespace: string): string => `/apis/apps/v1/namespaces/${namespace}/daemonsets`;

/**
 * DaemonSets that are as large as can be, in a namespace that did not opt in, and one by the name and namespace that the
 * built-in profile `linkerd` gives, which no namespace uses here. Then each replica is restarted, so that it reads them all.
 */
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
