/** Equal values as one object in memory. It forgets all of them when there are too many. */
export class Shared<T> {
  readonly #known = new Map<string, T>();
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** @param make called for a key that is not known */
  of(key: string, make: () => T): T {
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    if (this.#known.size >= this.#most) this.#known.clear();
    const made = make();
    this.#known.set(key, made);
    return made;
  }
}
