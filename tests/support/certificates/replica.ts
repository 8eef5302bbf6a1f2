import type { KeyPem } from '../../../certs/keys.ts';
import type { ReadState } from '../../../certs/managed/reading.ts';
import { Keeper, type KeeperOptions } from '../../../webhook/certificates/keeper.ts';
import { CniGateError } from '../../../webhook/lib/errors.ts';
import type { World } from './world.ts';

export type Settings = Pick<KeeperOptions, 'overlap' | 'authorityDays' | 'leafDays' | 'names'> & {
  keys: () => Promise<KeyPem>;
};

/** A replica that stops before each request that it makes, until it is told to go on. */
export class Replica {
  /** What it serves, and what it took it from. */
  serving: ReadState | undefined;
  /** When it last ended a look, in the world's steady time. */
  lookedAt = 0;
  frozen = false;
  /** The code of the error that its last look ended with. */
  refused: string | undefined;
  /** What it mended, in words. */
  readonly mended: string[] = [];
  readonly #world: World;
  readonly #settings: Settings;
  #keeper: Keeper;
  #life = 0;
  #look: Promise<void> | undefined;
  #waiting: (() => void)[] = [];
  #stopped = Promise.withResolvers<void>();

  constructor(world: World, settings: Settings) {
    this.#world = world;
    this.#settings = settings;
    this.#keeper = this.#begin();
  }

  get remembers(): boolean {
    return this.#keeper.state !== undefined;
  }

  get isLooking(): boolean {
    return this.#look !== undefined;
  }

  /** Goes on by one request, or begins a look. Returns when it stops again. */
  async step(): Promise<void> {
    this.#stopped = Promise.withResolvers();
    if (this.#look === undefined) this.#look = this.#lookOnce(this.#life);
    else for (const go of this.#waiting.splice(0)) go();
    await this.#stopped.promise;
  }

  /** Ends the look that is under way, or makes a whole one. */
  async finish(): Promise<void> {
    do await this.step();
    while (this.isLooking);
  }

  /** Forgets everything, in the middle of whatever it did. */
  restart(): void {
    this.#life += 1;
    this.#look = undefined;
    this.#waiting = [];
    this.serving = undefined;
    this.#keeper = this.#begin();
  }

  async #lookOnce(life: number): Promise<void> {
    try {
      await this.#keeper.look();
      this.refused = undefined;
    } catch (error) {
      if (!(error instanceof CniGateError)) throw error;
      this.refused = error.code;
    }
    if (life !== this.#life) return;
    this.#look = undefined;
    this.lookedAt = this.#world.steady;
    this.#stopped.resolve();
  }

  #begin(): Keeper {
    const life = this.#life;
    const turn = (): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      // the request of an earlier life is never made
      if (life === this.#life) {
        this.#waiting.push(resolve);
        this.#stopped.resolve();
      }
      return promise;
    };
    return new Keeper({
      ...this.#settings,
      shared: this.#world.shared(turn),
      steady: () => this.#world.steady,
      events: {
        wrote: (_step, faults) => this.mended.push(...faults.map(({ part, reason }) => `${part} ${reason}`)),
        waiting: () => {},
        mended: (name, reason) => this.mended.push(`${name} ${reason}`),
        state: (state) => {
          if (life === this.#life) this.serving = state;
        },
        seen: () => {},
        failed: (_about, error) => {
          throw error;
        },
      },
    });
  }
}
