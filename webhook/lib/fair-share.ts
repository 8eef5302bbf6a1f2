/**
 * An amount that several share, where nobody can tell how many there will be. Each may hold only as much as is left for
 * others, and a few may hold up to four times that. So who holds much always leaves something: four fifths where there
 * is one, an equal share where there are many. Pure.
 */
export class FairShare {
  readonly #total: number;
  /** What each holds; nobody stands here with nothing. */
  readonly #held = new Map<string, number>();
  #used = 0;

  constructor(total: number) {
    this.#total = total;
  }

  /** How much is held by all together. */
  get used(): number {
    return this.#used;
  }

  /** Takes one. @param whose without a name, only the total counts */
  tryTake(whose = ''): boolean {
    const left = this.#total - this.#used;
    const own = this.#held.get(whose) ?? 0;
    const sharers = this.#held.size + (own === 0 ? 1 : 0);
    const most = whose === '' ? Number.POSITIVE_INFINITY : left * Math.max(1, 4 / sharers);
    if (left < 1 || own >= most) return false;
    this.#held.set(whose, own + 1);
    this.#used += 1;
    return true;
  }

  give(whose = ''): void {
    const own = this.#held.get(whose);
    if (own === undefined) return;
    if (own > 1) this.#held.set(whose, own - 1);
    else this.#held.delete(whose);
    this.#used -= 1;
  }

  /** Gives back one of somebody's who holds some: everybody's turn comes. */
  giveNext(): void {
    const [next] = this.#held;
    if (next === undefined) return;
    const [whose, own] = next;
    this.#held.delete(whose);
    if (own > 1) this.#held.set(whose, own - 1);
    this.#used -= 1;
  }
}

/** Lets through so many a second, and some more at once after a rest, as a {@link FairShare}. Pure: the time is handed in. */
export class FairRate {
  readonly #perSecond: number;
  readonly #share: FairShare;
  #at = Number.NEGATIVE_INFINITY;
  /** Part of one that has come back since. */
  #due = 0;

  constructor(perSecond: number, burst: number) {
    this.#perSecond = perSecond;
    this.#share = new FairShare(burst);
  }

  /**
   * @param whose without a name, only the rate of all together counts
   * @param now milliseconds of a clock that does not go back
   */
  tryTake(whose: string | undefined, now: number): boolean {
    this.#refill(now);
    return this.#share.tryTake(whose);
  }

  #refill(now: number): void {
    this.#due += (Math.max(0, now - this.#at) / 1000) * this.#perSecond;
    this.#at = Math.max(this.#at, now);
    for (; this.#due >= 1 && this.#share.used > 0; this.#due -= 1) this.#share.giveNext();
    // a full bucket takes no more
    if (this.#share.used === 0) this.#due = 0;
  }
}
