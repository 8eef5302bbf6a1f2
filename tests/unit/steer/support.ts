import type { NodeFacts } from '../../../webhook/readiness/facts.ts';
import { pickNode } from '../../../webhook/readiness/pick.ts';
import type { Amounts } from '../../../webhook/scheduling/amounts.ts';
import { History } from '../../../webhook/steer/history.ts';
import type { Known } from '../../../webhook/steer/plan.ts';
import type { Room } from '../../../webhook/steer/room.ts';
import type { WaitingPod } from '../../../webhook/steer/waiting.ts';
import { apiNode, now } from '../readiness/objects.ts';

export { now };

/** A node with room for a thousand millicores and ten pods. */
export function node(name: string, more: Partial<NodeFacts> = {}): NodeFacts {
  const allocatable = { cpu: 1000, pods: 10 };
  return { ...pickNode(apiNode(name, 'b1', 1)), labels: { name }, allocatable, ...more };
}

/** A pod that node n1 was refused for, and that asks for 100 millicores. */
export function waiting(name: string, more: Partial<WaitingPod> = {}): WaitingPod {
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
    wish: {},
    tolerations: [],
    requests: { cpu: 100, pods: 1 },
    claims: [],
    neighbours: { spread: [], apart: [], kind: '' },
    guesswork: false,
    unwieldy: false,
    ...more,
  };
  return { ...pod, kind: JSON.stringify([pod.profiles, pod.wish, pod.tolerations, pod.requests]) };
}

/** A room in which so much is taken, by pods of these groups. */
export function room(amounts: Amounts, groups: Record<string, number> = {}): Room {
  return { amounts, groups: new Map(Object.entries(groups)), pods: new Map(), at: now };
}

/** Everything known: n1 takes nobody, all other nodes everybody, and they are empty. */
export function known(nodes: NodeFacts[], more: Partial<Known> = {}): Known {
  return {
    nodes,
    takes: (_, name) => name !== 'n1',
    room: () => room({}),
    volumes: () => undefined,
    history: new History(),
    start: 0,
    now,
    ...more,
  };
}

/** Pods by UID, as they wait now. */
export const byUid = (...pods: WaitingPod[]): Map<string, WaitingPod> =>
  new Map(pods.map((pod) => [pod.uid, pod]));
