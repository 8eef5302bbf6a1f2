import type { NodeFacts } from '../readiness/facts.ts';
import { isThere } from '../scheduling/amounts.ts';
import { wantsNode } from '../scheduling/node-selector.ts';
import { type Taint, toleratesAll } from '../scheduling/taints.ts';
import type { WaitingPod } from './waiting.ts';

/**
 * Says whether a node may take a pod of these profiles: each of their DaemonSets is ready there or does not want it.
 */
export type Takes = (profiles: readonly string[], node: string) => boolean;

/** A cordoned node turns away whoever does not tolerate this. Source: Kubernetes, plugin NodeUnschedulable. */
const cordon: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** More are not looked at for pods of one kind in one go: 5,000 nodes need not be known to choose a good one. */
const enough = 64;

/** Nodes for pods, whatever is on them already. Pods that ask for the same are looked at once. */
export class Candidates {
  readonly #nodes: readonly NodeFacts[];
  readonly #takes: Takes;
  readonly #start: number;
  readonly #found = new Map<string, NodeFacts[]>();
  /** By profiles: few nodes take anybody when it matters most, as when a whole cluster starts. */
  readonly #taking = new Map<string, NodeFacts[]>();

  /** @param start where in the nodes to begin to look: another one each time finds them all in the end */
  constructor(nodes: readonly NodeFacts[], takes: Takes, start: number) {
    this.#nodes = nodes;
    this.#takes = takes;
    this.#start = start;
  }

  for(pod: WaitingPod): NodeFacts[] {
    const known = this.#found.get(pod.kind);
    if (known !== undefined) return known;
    const taking = this.#takingNodes(pod.profiles);
    const found: NodeFacts[] = [];
    for (let index = 0; index < taking.length && found.length < enough; index += 1) {
      const node = taking[(this.#start + index) % taking.length];
      if (node !== undefined && suits(pod, node)) found.push(node);
    }
    this.#found.set(pod.kind, found);
    return found;
  }

  #takingNodes(profiles: readonly string[]): NodeFacts[] {
    const key = profiles.join(' ');
    const known = this.#taking.get(key);
    if (known !== undefined) return known;
    const taking = this.#nodes.filter(({ name }) => this.#takes(profiles, name));
    this.#taking.set(key, taking);
    return taking;
  }
}

/** Whether a node would do for the pod if it were empty. */
export function suits({ wish, tolerations, requests }: WaitingPod, node: NodeFacts): boolean {
  const taints = node.unschedulable ? [...node.taints, cordon] : node.taints;
  return wantsNode(wish, node) && toleratesAll(tolerations, taints) && isThere(requests, node.allocatable);
}
