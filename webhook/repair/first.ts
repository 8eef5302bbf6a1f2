/** Keeps the first of many, by an order, in bounded memory. */
export class First<T> {
  readonly #max: number;
  readonly #compare: (one: T, other: T) => number;
  #kept: T[] = [];

  /** @param max how many are kept */
  constructor(max: number, compare: (one: T, other: T) => number) {
    this.#max = max;
    this.#compare = compare;
  }

  add(item: T): void {
    this.#kept.push(item);
    if (this.#kept.length >= 2 * this.#max) this.#kept = this.#sorted();
  }

  /** The first ones, in order. */
  sorted(): readonly T[] {
    this.#kept = this.#sorted();
    return this.#kept;
  }

  #sorted(): T[] {
    return this.#kept.sort(this.#compare).slice(0, this.#max);
  }
}
