import type { PendingPod } from './pending-pod.ts';

/** Counts the work of a plan in steps, and says when who works should pause. */
export class Work {
  readonly #isDue: (steps: number) => boolean;
  #spent = 0;

  /** @param isDue told of the steps of each piece of work; says whether a pause is due. By default none ever is. */
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

/** So many characters of what is asked for are compared in a step: a term has some 60 as JSON. */
const charactersPerStep = 64;

/** Steps for comparing what is asked for with one other thing. @param text what is asked for, as JSON */
export const stepsFor = (text: string): number => 1 + Math.floor(text.length / charactersPerStep);

/** Steps for comparing what a pod asks of its node with one node. */
export const stepsPerNode = ({ kind }: Pick<PendingPod, 'kind'>): number => stepsFor(kind);
