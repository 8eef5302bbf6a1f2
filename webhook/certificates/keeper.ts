import { carryOut, type Making } from '../../certs/managed/carry-out.ts';
import type { Fault, FaultReason } from '../../certs/managed/fault.ts';
import { type Watched, watchTrust } from '../../certs/managed/overlap.ts';
import { type Plan, planStep } from '../../certs/managed/plan.ts';
import { type Reading, type ReadState, readSecret } from '../../certs/managed/reading.ts';
import { secretData } from '../../certs/managed/secret.ts';
import { bundleOf } from '../../certs/managed/state.ts';
import { bundleFault } from '../../certs/managed/trust.ts';
import { CniGateError } from '../lib/errors.ts';
import {
  ChangedSince,
  type SeenConfiguration,
  type SeenConfigurations,
  type SeenSecret,
  type Shared,
} from './shared.ts';

/** Who is told what a {@link Keeper} saw and did. */
export interface KeeperEvents {
  /** A step was written into the Secret; `faults` is what it mended. */
  wrote(step: Plan['step']['do'], faults: Fault[]): void;
  /** Nothing is done for now, because another replica may know better. */
  waiting(faults: Fault[]): void;
  /** A caBundle was put right. */
  mended(configuration: string, reason: FaultReason): void;
  /** What is in force now: read or written. */
  state(state: ReadState): void;
  /** How the webhook configurations look. */
  seen(configurations: SeenConfigurations): void;
  /** Something could not be done; it is tried again at the next look. */
  failed(about: string, error: CniGateError): void;
}

export interface KeeperOptions extends Omit<Making, 'now'> {
  shared: Shared;
  events: KeeperEvents;
  /** Milliseconds of a clock that only runs forward. */
  steady: () => number;
  /** Milliseconds that an authority is trusted everywhere before anything it signed is served. */
  overlap: number;
}

/**
 * One replica's part in keeping the certificates: it looks at the Secret and the webhook configurations, does the
 * next step if one is due, and takes what is in force. All replicas do the same; who writes first wins, and the
 * others read again.
 */
export class Keeper {
  readonly #options: KeeperOptions;
  #kept: { state: ReadState; uid: string } | undefined;
  #watched: Watched | undefined;
  #waitingSince: number | undefined;
  #read: { version: string; reading: Reading } | undefined;

  constructor(options: KeeperOptions) {
    this.#options = options;
  }

  /** What this replica last read or wrote and found good. */
  get state(): ReadState | undefined {
    return this.#kept?.state;
  }

  /**
   * Looks once, and does one step at most.
   *
   * @returns `again`: something was written or another replica was faster; `wait`: for another replica, which may
   * know better; `done`: nothing is left to do
   * @throws CniGateError where the Secret cannot be read or written, or is not ours
   */
  async look(): Promise<'again' | 'wait' | 'done'> {
    const { shared, events, steady } = this.#options;
    // The configurations come first: whoever changed the Secret before a configuration was read is then seen, so
    // that a bundle is never put back to what an older Secret said.
    const trust = await shared.configurations();
    events.seen(trust);
    const secret = await shared.secret();
    const plan = this.#plan(secret, trust, steady());
    let written: boolean;
    try {
      written = await this.#do(plan, secret);
    } catch (error) {
      if (error instanceof ChangedSince) return 'again';
      if (isForeign(error)) await this.#spread(trust);
      throw error;
    }
    if (plan.step.do === 'wait') {
      events.waiting(plan.faults);
      return 'wait';
    }
    const patched = await this.#spread(trust);
    if (this.#kept !== undefined) events.state(this.#kept.state);
    return written || patched ? 'again' : 'done';
  }

  #plan(secret: SeenSecret | undefined, trust: SeenConfigurations, steady: number): Plan {
    const { shared, overlap, names } = this.#options;
    const reading = secret && this.#readingOf(secret);
    this.#watched = watchTrust(this.#watched, reading?.next?.facts.fingerprint, trust, steady);
    const plan = planStep({
      reading,
      kept: this.#kept?.state,
      trust,
      now: shared.now(),
      trustedFor: this.#watched && steady - this.#watched.since,
      waitedFor: steady - (this.#waitingSince ?? steady),
      overlap,
      names,
    });
    this.#waitingSince = plan.step.do === 'wait' ? (this.#waitingSince ?? steady) : undefined;
    return plan;
  }

  /** Decoded once for each version of the Secret. */
  #readingOf(secret: SeenSecret): Reading {
    const version = `${secret.uid} ${secret.version}`;
    if (this.#read?.version !== version) this.#read = { version, reading: readSecret(secret.data) };
    return this.#read.reading;
  }

  /** @returns whether the Secret was written */
  async #do({ step, faults }: Plan, secret: SeenSecret | undefined): Promise<boolean> {
    const { shared, events } = this.#options;
    if (step.do === 'none' && secret) {
      // nothing to do: what was read is whole
      this.#kept = { state: this.#read?.reading as ReadState, uid: secret.uid };
      return false;
    }
    if (secret && step.do !== 'wait') this.#checkOurs(secret);
    const next = await carryOut(step, { ...this.#options, now: shared.now() });
    if (next === undefined) return false;
    const seen = await shared.write(secretData(next), secret);
    this.#kept = { state: next, uid: seen.uid };
    events.wrote(step.do, faults);
    return true;
  }

  /** A Secret is ours by its label, by its uid, or because there is nothing in it that could be lost. */
  #checkOurs({ labelled, uid, data }: SeenSecret): void {
    const empty = Object.values(data).every((text) => text.trim() === '');
    if (labelled || empty || uid === this.#kept?.uid) return;
    throw new CniGateError(
      'CNI_GATE_TLS_SECRET_FOREIGN',
      `the Secret does not carry our label and holds ${Object.keys(data).join(', ')}: it is left as it is. Delete it, empty it, label it, or name another one`,
    );
  }

  /** Puts what has to be trusted into every configuration that holds anything else. */
  async #spread(trust: SeenConfigurations): Promise<boolean> {
    if (this.#kept === undefined) return false;
    const bundle = bundleOf(this.#kept.state);
    const done = await Promise.all(
      trust.configurations.map((configuration) => this.#spreadTo(configuration, bundle)),
    );
    return done.includes(true);
  }

  async #spreadTo(configuration: SeenConfiguration, bundle: string): Promise<boolean> {
    const { shared, events } = this.#options;
    const [reason] = configuration.bundles.flatMap((each) => bundleFault(each, bundle) ?? []);
    if (reason === undefined) return false;
    try {
      await shared.trust(configuration, bundle);
      events.mended(configuration.name, reason);
      return true;
    } catch (error) {
      if (error instanceof ChangedSince) return true;
      if (!(error instanceof CniGateError)) throw error;
      events.failed(configuration.name, error);
      return false;
    }
  }
}

function isForeign(error: unknown): boolean {
  return error instanceof CniGateError && error.code === 'CNI_GATE_TLS_SECRET_FOREIGN';
}
