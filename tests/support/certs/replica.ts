import { type Leaf, Reconciler, type ReconcilerOptions } from '../../../certs/reconcile.ts';
import type { World } from './world.ts';

export type Settings = Pick<ReconcilerOptions, 'overlap' | 'authorityDays' | 'leafDays' | 'names'>;

/** A replica that pauses before each of its requests until the test lets it continue. */
export class Replica {
  serving: Leaf | undefined;
  /** When the replica last completed a reconciliation, in the world's monotonic time. */
  reconciledAt = 0;
  frozen = false;
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
    return this.#reconciler.leaf !== undefined;
  }

  get isReconciling(): boolean {
    return this.#running !== undefined;
  }

  /** Makes one request, or begins a reconciliation, and returns at the next pause. */
  async step(): Promise<void> {
    this.#stopped = Promise.withResolvers();
    if (this.#running === undefined) {
      // an error rejects the step that waits, so that the test fails with its sequence and not with a time-out
      this.#running = this.#reconcileOnce(this.#life).catch((error: unknown) => this.#stopped.reject(error));
    } else for (const go of this.#waiting.splice(0)) go();
    await this.#stopped.promise;
  }

  /** Completes the reconciliation in progress, or makes a whole one. */
  async finish(): Promise<void> {
    do await this.step();
    while (this.isReconciling);
  }

  restart(): void {
    this.#life += 1;
    this.#running = undefined;
    this.#waiting = [];
    this.serving = undefined;
    this.#reconciler = this.#begin();
  }

  async #reconcileOnce(life: number): Promise<void> {
    await this.#reconciler.reconcile();
    if (life !== this.#life) return;
    this.serving = this.#reconciler.leaf;
    this.#running = undefined;
    this.reconciledAt = this.#world.monotonicNow;
    this.#stopped.resolve();
  }

  #begin(): Reconciler {
    const life = this.#life;
    const turn = (): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      // a request that was pending when the replica restarted is never made
      if (life === this.#life) {
        this.#waiting.push(resolve);
        this.#stopped.resolve();
      }
      return promise;
    };
    const ignore = (): void => {};
    return new Reconciler({
      ...this.#settings,
      shared: this.#world.shared(turn),
      monotonicNow: () => this.#world.monotonicNow,
      report: {
        wrote: ignore,
        repaired: ignore,
        well: ignore,
        agreed: ignore,
        failed: (_about, error) => {
          throw error;
        },
      },
    });
  }
}
