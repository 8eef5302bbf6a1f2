import type { ApiClient } from '../kubernetes/client.ts';
import { Eligibility } from './eligibility.ts';
import { LeaderLoop, type TurnResult } from './leader-loop.ts';
import type { SteerState } from './metrics.ts';
import { interval, Rounds, type SteeringOptions } from './rounds.ts';

/** How long changes are gathered before a round, in milliseconds: pods are mostly refused in groups. */
const gather = 50;

/** Steers refused pods to other nodes while this process leads: {@link Rounds} in a loop. */
export class Steering {
  readonly #options: SteeringOptions;
  readonly #eligibility: Eligibility;
  readonly #loop: LeaderLoop;
  readonly #rounds: Rounds;
  #state: SteerState | undefined;

  constructor(client: ApiClient, options: SteeringOptions) {
    const { leader, log } = options;
    this.#options = options;
    this.#eligibility = new Eligibility(client, leader, log);
    this.#loop = new LeaderLoop({ leader, log, gather, failure: 'refused pods cannot be steered' });
    this.#rounds = new Rounds(client, options, (error) => this.#loop.warn(error));
  }

  /** What it does; undefined before the first turn. */
  get state(): SteerState | undefined {
    return this.#state;
  }

  /** Runs until the signal is aborted. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const unsubscribe = this.#options.view.subscribe(() => this.#loop.notify());
    await this.#loop.run(() => this.#turn(signal), signal);
    unsubscribe();
  }

  async #turn(signal: AbortSignal): Promise<TurnResult> {
    const { policy, metrics } = this.#options;
    const { state, isNew } = await this.#eligibility.check(policy(), signal);
    if (isNew) {
      this.#state = state;
      metrics.state(state);
    }
    if (this.#loop.takeLeadChange() || isNew) this.#rounds.forget();
    return state === 'steering' ? this.#rounds.round(signal) : { next: interval, busy: 0 };
  }
}
