import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../kubernetes/client.ts';
import { CniGateError, messageOf } from '../lib/errors.ts';
import { Notifier } from '../lib/notifier.ts';
import { Eligibility } from './eligibility.ts';
import type { SteerState } from './metrics.ts';
import { interval, Rounds, type SteeringOptions } from './rounds.ts';
import { restAfter } from './slices.ts';

/** How long changes are gathered before a round, in milliseconds: pods are mostly refused in groups. */
const gather = 50;
/** The first and the longest pause after a failure of the API server, in milliseconds. */
const [pause, longestPause] = [1000, 30_000];

/** Steers refused pods to other nodes while this process leads: the loop around {@link Rounds}. */
export class Steering {
  readonly #options: SteeringOptions;
  readonly #eligibility: Eligibility;
  readonly #rounds: Rounds;
  /** Whether the lead changed hands since the last turn, maybe twice. */
  #leadChanged = false;
  /** Notified when the lead changes hands. It ends every rest and pause. */
  readonly #lead = new Notifier();
  #failures = 0;
  #reported: string | undefined;
  #state: SteerState | undefined;

  constructor(client: ApiClient, options: SteeringOptions) {
    this.#options = options;
    this.#eligibility = new Eligibility(client, options.leader, options.log);
    this.#rounds = new Rounds(client, options, (error) => this.#warn(error));
  }

  /** What it does; undefined before the first turn. */
  get state(): SteerState | undefined {
    return this.#state;
  }

  /** Runs until the signal is aborted. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const changed = new Notifier();
    const { view, leader } = this.#options;
    const leadChanged = (): void => {
      this.#leadChanged = true;
      this.#failures = 0;
      this.#lead.notify();
      changed.notify();
    };
    const subscriptions = [view.subscribe(() => changed.notify()), leader?.subscribe(leadChanged)];
    while (!signal.aborted) {
      const { next, busy } = await this.#turn(signal);
      await changed.wait(next, signal);
      await sleep(gather, undefined, { signal }).catch(() => {});
      // admission calls need the CPU as well
      const rest = restAfter(busy) - gather;
      if (rest > 0) await this.#lead.wait(rest, signal);
    }
    for (const unsubscribe of subscriptions) unsubscribe?.();
  }

  /** @returns milliseconds until the next turn, if nothing happens before, and of CPU time */
  async #turn(signal: AbortSignal): Promise<{ next: number; busy: number }> {
    try {
      const { policy, metrics } = this.#options;
      const { state, isNew } = await this.#eligibility.check(policy(), signal);
      if (isNew) {
        this.#state = state;
        metrics.state(state);
      }
      if (isNew || this.#leadChanged) {
        this.#leadChanged = false;
        this.#rounds.forget();
      }
      const result = state === 'steering' ? await this.#rounds.round(signal) : { next: interval, busy: 0 };
      this.#failures = 0;
      return result;
    } catch (error) {
      if (!signal.aborted) {
        this.#warn(error);
        const wait = Math.min(pause * 2 ** this.#failures, longestPause);
        this.#failures += 1;
        await this.#lead.wait(wait, signal);
      }
      return { next: 0, busy: 0 };
    }
  }

  /** Logs each kind of failure once, until another kind comes: it may concern many pods. */
  #warn(error: unknown): void {
    const text = messageOf(error);
    const kind = error instanceof CniGateError ? error.code : text;
    if (kind === this.#reported) return;
    this.#reported = kind;
    this.#options.log.warn({ err: error }, `refused pods cannot be steered: ${text}; cni-gate tries again`);
  }
}
