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
  readonly #taken = new Map<string, boolean>();

  /** @param start where in the nodes to begin to look: another one each time finds them all in the end */
  constructor(nodes: readonly NodeFacts[], takes: Takes, start: number) {
    this.#nodes = nodes;
    this.#takes = takes;
    this.#start = start;
  }

  for(pod: WaitingPod): NodeFacts[] {
    const { profiles, wish, tolerations, requests } = pod;
    const kind = JSON.stringify([profiles, wish, tolerations, requests]);
    const known = this.#found.get(kind);
    if (known !== undefined) return known;
    const found: NodeFacts[] = [];
    for (let index = 0; index < this.#nodes.length && found.length < enough; index += 1) {
      const node = this.#nodes[(this.#start + index) % this.#nodes.length];
      if (node !== undefined && this.takes(profiles, node.name) && suits(pod, node)) found.push(node);
    }
    this.#found.set(kind, found);
    return found;
  }

  /** What is said by {@link Takes}, asked once. */
  takes(profiles: readonly string[], node: string): boolean {
    const key = `${node} ${profiles.join(' ')}`;
    const known = this.#taken.get(key);
    if (known !== undefined) return known;
    const takes = this.#takes(profiles, node);
    this.#taken.set(key, takes);
    return takes;
  }
}

/** Whether a node would do for the pod if it were empty. */
export function suits({ wish, tolerations, requests }: WaitingPod, node: NodeFacts): boolean {
  const taints = node.unschedulable ? [...node.taints, cordon] : node.taints;
  return wantsNode(wish, node) && toleratesAll(tolerations, taints) && isThere(requests, node.allocatable);
}
