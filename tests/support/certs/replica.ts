import { type Leaf, Reconciler, type ReconcilerOptions } from '../../../certs/reconcile.ts';
import { CniGateError } from '../../../webhook/lib/errors.ts';
import type { World } from './world.ts';

export type Settings = Pick<ReconcilerOptions, 'overlap' | 'authorityDays' | 'leafDays' | 'names'>;

/** A replica that stops before each request that it makes, until the test lets it go on. */
export class Replica {
  /** What it serves. */
  serving: Leaf | undefined;
  /** When it last ended a reconciliation, in the world's monotonic time. */
  reconciledAt = 0;
  frozen = false;
  /** The code of the error that its last reconciliation ended with. */
  refused: string | undefined;
  /** What it repaired, in words. */
  readonly repaired: string[] = [];
  readonly #world: World;
  readonly #settings: Settings;
  #reconciler: Reconciler;
  #life = 0;
  #running: Promise<void> | undefined;
  #waiting: (() => void)[] = [];
  #stopped = Promise.withResolvers<void>();

  constructor(world: World, settings: Settings) {
    this.#world = world;
    this.#settings = settings;
    this.#reconciler = this.#begin();
  }

  get remembers(): boolean {
    return this.#reconciler.state !== undefined;
  }

  get isReconciling(): boolean {
    return this.#running !== undefined;
  }

  /** Goes on by one request, or begins a reconciliation. Returns when it stops again. */
  async step(): Promise<void> {
    this.#stopped = Promise.withResolvers();
    if (this.#running === undefined) this.#running = this.#reconcileOnce(this.#life);
    else for (const go of this.#waiting.splice(0)) go();
    await this.#stopped.promise;
  }

  /** Ends the reconciliation in progress, or makes a whole one. */
  async finish(): Promise<void> {
    do await this.step();
    while (this.isReconciling);
  }

  /** Forgets everything, in the middle of whatever it did. */
  restart(): void {
    this.#life += 1;
    this.#running = undefined;
    this.#waiting = [];
    this.serving = undefined;
    this.#reconciler = this.#begin();
  }

  async #reconcileOnce(life: number): Promise<void> {
    try {
      await this.#reconciler.reconcile();
      this.refused = undefined;
    } catch (error) {
      if (!(error instanceof CniGateError)) throw error;
      this.refused = error.code;
    }
    if (life !== this.#life) return;
    this.#running = undefined;
    this.reconciledAt = this.#world.monotonicNow;
    this.#stopped.resolve();
  }

  #begin(): Reconciler {
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
    return new Reconciler({
      ...this.#settings,
      shared: this.#world.shared(turn),
      monotonicNow: () => this.#world.monotonicNow,
      events: {
        wrote: (_step, faults) =>
          this.repaired.push(...faults.map(({ part, reason }) => `${part} ${reason}`)),
        waiting: () => {},
        repaired: (name, reason) => this.repaired.push(`${name} ${reason}`),
        current: (_state, leaf) => {
          if (life === this.#life) this.serving = leaf;
        },
        observed: () => {},
        failed: (_about, error) => {
          throw error;
        },
      },
    });
  }
}
