import type { NodeFacts } from '../../../webhook/readiness/facts.ts';
import { toNodeFacts } from '../../../webhook/readiness/to-facts.ts';
import type { Amounts } from '../../../webhook/scheduling/amounts.ts';
import { History } from '../../../webhook/steer/history.ts';
import type { NodeUsage } from '../../../webhook/steer/node-usage.ts';
import type { PendingPod } from '../../../webhook/steer/pending-pod.ts';
import type { Snapshot } from '../../../webhook/steer/plan.ts';
import { apiNode, now } from '../readiness/objects.ts';

export { now };

/** A node with a thousand millicores and ten places for pods. */
export function node(name: string, more: Partial<NodeFacts> = {}): NodeFacts {
  const allocatable = { cpu: 1000, pods: 10 };
  return { ...toNodeFacts(apiNode(name, 'b1', 1)), labels: { name }, allocatable, ...more };
}

/** A pod that was refused on node n1 and requests 100 millicores. */
export function waiting(name: string, more: Partial<PendingPod> = {}): PendingPod {
  const pod = {
    uid: `${name}-uid`,
    namespace: 'shop',
    name,
    profiles: ['mesh'],
    heldSince: now - 1000,
    refused: 'n1',
    version: '10',
    nominated: '',
    leaving: false,
    group: 'web',
    constraints: {},
    tolerations: [],
    requests: { cpu: 100, pods: 1 },
    hasVolumes: false,
    unverifiable: false,
    tooLarge: false,
    ...more,
  };
  return { ...pod, kind: JSON.stringify([pod.profiles, pod.constraints, pod.tolerations, pod.requests]) };
}

/** A node's usage, by pods of these groups. */
export function usage(amounts: Amounts, groups: Record<string, number> = {}): NodeUsage {
  return { amounts, groups: new Map(Object.entries(groups)), pods: new Set(), at: now };
}

/** n1 accepts no pod, all other nodes accept every pod and are empty. */
export function known(nodes: NodeFacts[], more: Partial<Snapshot> = {}): Snapshot {
  return {
    nodes,
    accepts: (_, name) => name !== 'n1',
    usage: () => usage({}),
    history: new History(),
    start: 0,
    now,
    ...more,
  };
}

/** Pods by UID. */
export const byUid = (...pods: PendingPod[]): Map<string, PendingPod> =>
  new Map(pods.map((pod) => [pod.uid, pod]));
