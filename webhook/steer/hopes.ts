import { isHopeless, type Placed } from './neighbours.ts';
import type { WaitingPod } from './waiting.ts';

/** What {@link isHopeless} says, worked out once for pods that want the same: a Deployment has many. */
export class Hopes {
  readonly #placed: (node: string) => Placed;
  readonly #vain = new Map<string, boolean>();

  /** @param placed the pods on a node, by UID; undefined where they are not known */
  constructor(placed: (node: string) => Placed) {
    this.#placed = placed;
  }

  areVain(pod: Pick<WaitingPod, 'namespace' | 'neighbours'> & { refused: string }, node: string): boolean {
    const { neighbours, refused } = pod;
    if (neighbours.kind === '') return false;
    const key = `${node} ${refused} ${neighbours.kind}`;
    const known = this.#vain.get(key) ?? isHopeless(pod, this.#placed(node), this.#placed(refused));
    this.#vain.set(key, known);
    return known;
  }
}
