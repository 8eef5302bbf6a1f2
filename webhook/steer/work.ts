import type { PendingPod } from './pending-pod.ts';

/** Counts the work of a plan in steps, and says when a pause is due. */
export class Work {
  readonly #isDue: (steps: number) => boolean;
  #spent = 0;

  /** @param isDue gets the steps of each piece of work; returns whether a pause is due. By default none is ever due. */
  constructor(isDue: (steps: number) => boolean = () => false) {
    this.#isDue = isDue;
  }

  /** Steps in total. */
  get spent(): number {
    return this.#spent;
  }

  /** @returns whether a pause is due */
  spend(steps: number): boolean {
    this.#spent += steps;
    return this.#isDue(steps);
  }
}

/** Work that pauses where it yields. */
export type Pausing<T> = Generator<void, T, void>;

/** Does the work without pauses. */
export function withoutPauses<T>(work: Pausing<T>): T {
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}

/** Characters of a pod's requirements that are compared in a step: a term has about 60 as JSON. */
const charactersPerStep = 64;

/** Steps to compare a pod's requirements with one node. */
export const stepsPerNode = ({ kind }: Pick<PendingPod, 'kind'>): number =>
  1 + Math.floor(kind.length / charactersPerStep);
