import { knownCallers } from '../lib/limits.ts';

/**
 * Addresses whose admission calls were answered of late. The API server's is among them, and so is that of anybody who
 * sends valid reviews. Pure: the time is handed in.
 */
export class Callers {
  /** When each was last answered; the one that was answered longest ago stands first. */
  readonly #answered = new Map<string, number>();

  /** @param now milliseconds of a clock that does not go back */
  answered(address: string, now: number): void {
    this.#answered.delete(address);
    this.#answered.set(address, now);
    if (this.#answered.size <= knownCallers.addresses) return;
    const [oldest] = this.#answered.keys();
    if (oldest !== undefined) this.#answered.delete(oldest);
  }

  knows(address: string, now: number): boolean {
    return now - (this.#answered.get(address) ?? Number.NEGATIVE_INFINITY) < knownCallers.remember;
  }
}
