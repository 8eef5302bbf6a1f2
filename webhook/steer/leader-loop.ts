import { setTimeout as sleep } from 'node:timers/promises';
import type { Leadership } from '../kubernetes/lease/leadership.ts';
import type { Log } from '../lib/deps.ts';
import { CniGateError, messageOf } from '../lib/errors.ts';
import { Notifier } from '../lib/notifier.ts';
import { restAfter } from './slices.ts';

/** The first and the longest pause after a failure of the API server, in milliseconds. */
const [pause, longestPause] = [1000, 30_000];

/** What came of a turn. Milliseconds. */
export interface TurnResult {
  /** Until the next turn, if nothing happens before. */
  next: number;
  /** How long planning used the CPU. */
  busy: number;
}

/** What a {@link LeaderLoop} needs. */
export interface LeaderLoopOptions {
  /** Undefined where there can be no leader. */
  leader: Leadership | undefined;
  log: Log;
  /** How long changes are gathered before a turn, in milliseconds. */
  gather: number;
  /** What a failure means, for the log: `refused pods cannot be steered`. */
  failure: string;
  /** Called at once when the lead changes hands. */
  onLead?: () => void;
}

/** Turns of the leader's work: after changes, after a while, and after pauses that grow with failures. */
export class LeaderLoop {
  readonly #options: LeaderLoopOptions;
  readonly #changed = new Notifier();
  /** Notified when the lead changes hands. It ends every rest and pause. */
  readonly #lead = new Notifier();
  #leadChanged = false;
  #failures = 0;
  #reported: string | undefined;

  constructor(options: LeaderLoopOptions) {
    this.#options = options;
  }

  /** Something changed that the next turn has to look at. */
  notify(): void {
    this.#changed.notify();
  }

  /** Whether the lead changed hands since the last call, maybe twice. */
  takeLeadChange(): boolean {
    const changed = this.#leadChanged;
    this.#leadChanged = false;
    return changed;
  }

  /**
   * Takes turns until the signal is aborted. Never throws.
   *
   * @param turn may throw: then the next turn follows after a pause
   */
  async run(turn: () => Promise<TurnResult>, signal: AbortSignal): Promise<void> {
    const unsubscribe = this.#options.leader?.subscribe(() => {
      this.#leadChanged = true;
      this.#failures = 0;
      this.#options.onLead?.();
      this.#lead.notify();
      this.#changed.notify();
    });
    while (!signal.aborted) {
      const { next, busy } = await this.#try(turn, signal);
      await this.#changed.wait(next, signal);
      const { gather } = this.#options;
      await sleep(gather, undefined, { signal }).catch(() => {});
      // admission calls need the CPU as well
      const rest = restAfter(busy) - gather;
      if (rest > 0) await this.#lead.wait(rest, signal);
    }
    unsubscribe?.();
  }

  /** Logs each kind of failure once, until another kind comes: it may concern many pods. */
  warn(error: unknown): void {
    const text = messageOf(error);
    const kind = error instanceof CniGateError ? error.code : text;
    if (kind === this.#reported) return;
    this.#reported = kind;
    const { log, failure } = this.#options;
    log.warn({ err: error }, `${failure}: ${text}; cni-gate tries again`);
  }

  async #try(turn: () => Promise<TurnResult>, signal: AbortSignal): Promise<TurnResult> {
    try {
      const result = await turn();
      this.#failures = 0;
      return result;
    } catch (error) {
      if (!signal.aborted) {
        this.warn(error);
        const wait = Math.min(pause * 2 ** this.#failures, longestPause);
        this.#failures += 1;
        await this.#lead.wait(wait, signal);
      }
      return { next: 0, busy: 0 };
    }
  }
}
