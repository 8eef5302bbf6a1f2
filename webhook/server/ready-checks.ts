/** Says why the server should not receive requests now, for people; undefined when it may. */
export type ReadyCheck = () => string | undefined;

/** The checks behind `/readyz`. */
export class ReadyChecks {
  readonly #checks: ReadyCheck[] = [];

  /** Adds a check. The reason of an earlier check hides those of later ones. */
  add(check: ReadyCheck): void {
    this.#checks.push(check);
  }

  /** The first reason that a check gives; undefined when all pass. */
  get reason(): string | undefined {
    for (const check of this.#checks) {
      const reason = check();
      if (reason !== undefined) return reason;
    }
    return undefined;
  }
}
