import type { EvidenceChange } from '../evidence/evidence.ts';
import type { ApiClient } from '../kubernetes/client.ts';
import { LeaderLoop, type TurnResult } from '../steer/leader-loop.ts';
import type { RepairState } from './metrics.ts';
import { interval, type RepairOptions, RepairRounds } from './rounds.ts';

/** How long changes are gathered before a round, in milliseconds. */
const gather = 100;

/** Recreates pods whose proof failed while this process leads: {@link RepairRounds} in a loop. */
export class Repairing {
  readonly #options: RepairOptions;
  readonly #loop: LeaderLoop;
  readonly #rounds: RepairRounds;
  #state: RepairState | undefined;

  constructor(client: ApiClient, options: RepairOptions) {
    const { leader, log } = options;
    this.#options = options;
    this.#loop = new LeaderLoop({
      leader,
      log,
      gather,
      failure: 'failed pods cannot be recreated',
      // what is known now must not become what the next leader is told
      onLead: () => this.#rounds.forget(),
    });
    this.#rounds = new RepairRounds(client, options, (error) => this.#loop.warn(error));
  }

  /** Runs until the signal is aborted. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const unsubscribe = this.#options.view.evidence.subscribe((changes) => this.#changed(changes));
    await this.#loop.run(() => this.#turn(signal), signal);
    unsubscribe();
  }

  #changed(changes: readonly EvidenceChange[]): void {
    this.#rounds.changed(changes);
    // a pod that passes helps others, and one that waits nobody
    if (changes.some(({ now }) => now?.verdict === 'failed' || now?.verdict === 'passed'))
      this.#loop.notify();
  }

  async #turn(signal: AbortSignal): Promise<TurnResult> {
    const state = this.#now();
    if (this.#loop.takeLeadChange() || state !== this.#state) {
      this.#state = state;
      this.#options.metrics.state(state);
      this.#rounds.forget();
    }
    const works = state === 'recreate' || state === 'audit';
    return works ? this.#rounds.round(state, signal) : { next: interval, busy: 0 };
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
}
