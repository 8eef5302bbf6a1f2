import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../kubernetes/client.ts';
import { CniGateError, messageOf } from '../lib/errors.ts';
import { Notifier } from '../lib/notifier.ts';
import { restAfter } from '../steer/slices.ts';
import type { RepairState } from './metrics.ts';
import { interval, type RepairOptions, RepairRounds, type RoundResult } from './rounds.ts';

/** How long changes are gathered before a round, in milliseconds. */
const gather = 100;
/** The first and the longest pause after a failure of the API server, in milliseconds. */
const [pause, longestPause] = [1000, 30_000];

/** Recreates pods whose proof failed while this process leads: the loop around {@link RepairRounds}. */
export class Repairing {
  readonly #options: RepairOptions;
  readonly #rounds: RepairRounds;
  /** Notified when the lead changes hands. It ends every rest and pause. */
  readonly #lead = new Notifier();
  #leadChanged = false;
  #failures = 0;
  #reported: string | undefined;
  #state: RepairState | undefined;

  constructor(client: ApiClient, options: RepairOptions) {
    this.#options = options;
    this.#rounds = new RepairRounds(client, options, (error) => this.#warn(error));
  }

  /** Runs until the signal is aborted. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const changed = new Notifier();
    const { view, leader } = this.#options;
    const subscriptions = [
      view.evidence.subscribe((changes) => {
        this.#rounds.changed(changes);
        // a pod that passes helps others, and one that waits nobody
        if (changes.some(({ now }) => now?.verdict === 'failed' || now?.verdict === 'passed'))
          changed.notify();
      }),
      leader?.subscribe(() => {
        this.#leadChanged = true;
        // what is known now must not become what the next leader is told
        this.#rounds.forget();
        this.#failures = 0;
        this.#lead.notify();
        changed.notify();
      }),
    ];
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

  async #turn(signal: AbortSignal): Promise<RoundResult> {
    try {
      const state = this.#now();
      if (state !== this.#state || this.#leadChanged) {
        this.#leadChanged = false;
        this.#state = state;
        this.#options.metrics.state(state);
        this.#rounds.forget();
      }
      const works = state === 'recreate' || state === 'audit';
      const result = works ? await this.#rounds.round(state, signal) : { next: interval, busy: 0 };
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

  #now(): RepairState {
    const { policy, leader } = this.#options;
    const { repair, proof } = policy();
    if (repair.mode === 'off') return 'off';
    if (leader === undefined) return 'no-namespace';
    if (!leader.leads) return 'standby';
    // with proof.mode warn, a pod whose proof failed runs
    return proof.mode === 'warn' ? 'audit' : repair.mode;
  }

  /** Logs each kind of failure once, until another kind comes: it may concern many pods. */
  #warn(error: unknown): void {
    const text = messageOf(error);
    const kind = error instanceof CniGateError ? error.code : text;
    if (kind === this.#reported) return;
    this.#reported = kind;
    this.#options.log.warn({ err: error }, `failed pods cannot be recreated: ${text}; cni-gate tries again`);
  }
}
