import { planLimits } from '../lib/limits.ts';
import { isUnsatisfiable, type Placed } from './neighbours.ts';
import type { PendingPod } from './pending-pod.ts';
import { stepsFor, type Work } from './work.ts';

/** What {@link isUnsatisfiable} says, worked out once for pods that want the same: a Deployment has many. */
export class NeighbourConstraints {
  readonly #placed: (node: string) => Placed;
  readonly #work: Work;
  /** By what is wanted, then by the two nodes. */
  readonly #unsatisfiable = new Map<string, Map<string, boolean>>();

  /**
   * @param placed the pods on a node, by UID; undefined where they are not known
   * @param work where the steps are counted
   */
  constructor(placed: (node: string) => Placed, work: Work) {
    this.#placed = placed;
    this.#work = work;
  }

  areUnsatisfiable(
    pod: Pick<PendingPod, 'namespace' | 'neighbours'> & { refused: string },
    node: string,
  ): boolean {
    const { neighbours, refused } = pod;
    if (neighbours.kind === '') return false;
    const ofKind = this.#unsatisfiable.get(neighbours.kind) ?? new Map<string, boolean>();
    this.#unsatisfiable.set(neighbours.kind, ofKind);
    const key = `${node} ${refused}`;
    const known = ofKind.get(key) ?? this.#isUnsatisfiable(pod, node);
    ofKind.set(key, known);
    return known;
  }

  #isUnsatisfiable(
    pod: Pick<PendingPod, 'namespace' | 'neighbours'> & { refused: string },
    node: string,
  ): boolean {
    const [there, refused] = [this.#placed(node), this.#placed(pod.refused)];
    const steps = stepsFor(pod.neighbours.kind) * (1 + (there?.size ?? 0) + (refused?.size ?? 0));
    if (steps > planLimits.neighbourSteps) return false;
    this.#work.spend(steps);
    return isUnsatisfiable(pod, there, refused);
  }
}
