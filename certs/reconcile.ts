import { CniGateError } from '../webhook/lib/errors.ts';
import { applyStep, type IssueOptions } from './apply.ts';
import { issueServing, type ServingCertificate } from './issue.ts';
import { inForce, renewalDue } from './period.ts';
import { type Plan, planStep, type Step } from './plan.ts';
import {
  type ConfigurationSnapshot,
  type ConfigurationsSnapshot,
  Conflict,
  type SecretSnapshot,
  type SharedObjects,
} from './shared.ts';
import {
  bundleOf,
  type Fault,
  type FaultReason,
  isEmpty,
  type Reading,
  readSecret,
  type State,
  secretData,
} from './state.ts';
import { bundleFault, measureTrust, type TrustedSince } from './trust.ts';

/** A replica's own serving certificate, and who signed it. */
export interface Leaf extends ServingCertificate {
  /** The fingerprint of the authority. */
  signedBy: string;
}

/** What a {@link Reconciler} reports. */
export interface ReconcilerEvents {
  /** A step was written into the Secret; `faults` is what it repaired. */
  wrote(step: Step['do'], faults: Fault[]): void;
  /** Nothing is done for now, because another replica may know better. */
  waiting(faults: Fault[]): void;
  /** A caBundle was repaired. */
  repaired(configuration: string, reason: FaultReason): void;
  /** The state that was read or written, and the certificate to serve. */
  current(state: State, leaf: Leaf): void;
  /** The webhook configurations as they were read. */
  observed(configurations: ConfigurationsSnapshot): void;
  /** Something failed; the next reconciliation tries it again. */
  failed(about: string, error: CniGateError): void;
}

/** What a {@link Reconciler} needs from the replica that it works for. */
export interface ReconcilerOptions extends Omit<IssueOptions, 'now'> {
  shared: SharedObjects;
  events: ReconcilerEvents;
  /** What the serving certificate is for. */
  names: readonly string[];
  /** Milliseconds of a monotonic clock. */
  monotonicNow: () => number;
  /** Milliseconds for which an authority is in every caBundle before it signs what is served. */
  overlap: number;
}

/**
 * One replica's part in maintaining the certificates: it reads the webhook configurations and the Secret, does the
 * next step if one is due, and signs its serving certificate. All replicas do the same; the first to write wins, and
 * the others read again.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  #known: { state: State; uid: string } | undefined;
  #leaf: Leaf | undefined;
  #trustedSince: TrustedSince | undefined;
  #waitingSince: number | undefined;
  #read: { version: string; reading: Reading } | undefined;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
  }

  /** What this replica last read or wrote and found good. */
  get state(): State | undefined {
    return this.#known?.state;
  }

  /**
   * Reads once, and does at most one step.
   *
   * @returns `again`: something was written or another replica was faster; `wait`: for another replica, which may
   * know better; `done`: nothing is left to do
   * @throws CniGateError where the Secret cannot be read or written, or is not ours
   */
  async reconcile(): Promise<'again' | 'wait' | 'done'> {
    const { shared, events, monotonicNow } = this.#options;
    // The configurations come first: a change of the Secret from before they were read is then in the Secret, so
    // no bundle goes back to what an older Secret said.
    const trust = await shared.configurations();
    events.observed(trust);
    const asked = monotonicNow();
    const secret = await shared.secret();
    // The time of the request, by the API server's clock, which is known after its answer. What the authority of the
    // Secret signs is valid from then on: see trustLonger.
    const now = new Date(shared.now().getTime() - (monotonicNow() - asked));
    const plan = this.#plan(secret, trust, now);
    let written: boolean;
    try {
      written = await this.#apply(plan, secret, now);
    } catch (error) {
      if (error instanceof Conflict) return 'again';
      if (isForeign(error)) await this.#writeBundles(trust);
      throw error;
    }
    if (plan.step.do === 'wait') {
      events.waiting(plan.faults);
      return 'wait';
    }
    const patched = await this.#writeBundles(trust);
    if (this.#known && this.#leaf) events.current(this.#known.state, this.#leaf);
    return written || patched ? 'again' : 'done';
  }

  #plan(secret: SecretSnapshot | undefined, trust: ConfigurationsSnapshot, now: Date): Plan {
    const monotonicNow = this.#options.monotonicNow();
    const reading = secret && this.#readingOf(secret);
    const next = reading?.next?.fingerprint;
    this.#trustedSince = measureTrust(this.#trustedSince, next, trust, monotonicNow);
    const plan = planStep({
      reading,
      remembered: this.#leaf && inForce(this.#leaf, now) ? this.#known?.state : undefined,
      trust,
      now,
      trustedFor: this.#trustedSince && monotonicNow - this.#trustedSince.since,
      waitedFor: monotonicNow - (this.#waitingSince ?? monotonicNow),
      overlap: this.#options.overlap,
    });
    this.#waitingSince = plan.step.do === 'wait' ? (this.#waitingSince ?? monotonicNow) : undefined;
    return plan;
  }

  /** Decoded once for each version of the Secret. */
  #readingOf(secret: SecretSnapshot): Reading {
    const version = `${secret.uid} ${secret.version}`;
    if (this.#read?.version !== version) this.#read = { version, reading: readSecret(secret.data) };
    return this.#read.reading;
  }

  /** @returns whether the Secret was written */
  async #apply({ step, faults }: Plan, secret: SecretSnapshot | undefined, now: Date): Promise<boolean> {
    const { shared, events } = this.#options;
    if (step.do === 'wait') return false;
    if (step.do === 'none' && secret) {
      // nothing to do: what was read is whole
      this.#use(this.#read?.reading as Reading & State, secret.uid, now);
      return false;
    }
    if (secret) this.#checkOurs(secret);
    const state = applyStep(step, { ...this.#options, now });
    if (state === undefined) return false;
    const { uid } = await shared.write(secretData(state), secret);
    this.#use(state, uid, now);
    events.wrote(step.do, faults);
    return true;
  }

  /** Remembers a state, and signs a new serving certificate where the state or the calendar asks for one. */
  #use({ authority, next, previous }: State, uid: string, now: Date): void {
    const { names, leafDays } = this.#options;
    const { fingerprint, notAfter } = authority;
    const leaf = this.#leaf;
    // one that ends with its authority would only be replaced by one that ends at the same moment
    const due = leaf && renewalDue(leaf, now) && leaf.notAfter < notAfter;
    if (leaf?.signedBy !== fingerprint || !inForce(leaf, now) || due) {
      this.#leaf = { ...issueServing(authority, { names, days: leafDays, now }), signedBy: fingerprint };
    }
    this.#known = { state: { authority, next, previous }, uid };
  }

  /** A Secret is ours by its label, by its uid, or because it contains nothing that could be lost. */
  #checkOurs({ labelled, uid, data }: SecretSnapshot): void {
    if (labelled || isEmpty(data) || uid === this.#known?.uid) return;
    throw new CniGateError(
      'CNI_GATE_TLS_SECRET_FOREIGN',
      `the Secret does not carry our label and contains ${Object.keys(data).join(', ')}: cni-gate does not change it. Delete it, empty it, label it, or name another one`,
    );
  }

  /** Writes the authorities into every configuration that trusts anything else. */
  async #writeBundles(trust: ConfigurationsSnapshot): Promise<boolean> {
    if (this.#known === undefined) return false;
    const bundle = bundleOf(this.#known.state);
    const written = await Promise.all(
      trust.configurations.map((configuration) => this.#writeBundle(configuration, bundle)),
    );
    return written.includes(true);
  }

  async #writeBundle(configuration: ConfigurationSnapshot, bundle: string): Promise<boolean> {
    const { shared, events } = this.#options;
    const [reason] = configuration.bundles.flatMap((each) => bundleFault(each, bundle) ?? []);
    if (reason === undefined) return false;
    try {
      await shared.trust(configuration, bundle);
      events.repaired(configuration.name, reason);
      return true;
    } catch (error) {
      if (error instanceof Conflict) return true;
      if (!(error instanceof CniGateError)) throw error;
      events.failed(configuration.name, error);
      return false;
    }
  }
}

function isForeign(error: unknown): boolean {
  return error instanceof CniGateError && error.code === 'CNI_GATE_TLS_SECRET_FOREIGN';
}
