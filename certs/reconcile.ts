import { CniGateError } from '../webhook/lib/errors.ts';
import { issueServing, type ServingCertificate } from './issue.ts';
import {
  type ConfigurationSnapshot,
  type Configurations,
  Conflict,
  type SecretSnapshot,
  type SharedObjects,
} from './objects.ts';
import type { Report } from './report.ts';
import {
  applyStep,
  type IssueOptions,
  measureTrust,
  type Plan,
  planStep,
  type TrustedSince,
} from './rotation.ts';
import { bundleFault, bundleOf, isEmpty, readSecret, type State, secretData } from './state.ts';
import { inForce, renewalDue } from './verify.ts';

/** A replica's own serving certificate, and the authority that signed it. */
export interface Leaf extends ServingCertificate {
  /** The fingerprint of the authority. */
  signedBy: string;
}

/** What a {@link Reconciler} needs from the replica that it works for. */
export interface ReconcilerOptions extends Omit<IssueOptions, 'now'> {
  shared: SharedObjects;
  report: Pick<Report, 'wrote' | 'repaired' | 'current' | 'observed' | 'failed'>;
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

  constructor(options: ReconcilerOptions) {
    this.#options = options;
  }

  /** What this replica serves; undefined before the first reconciliation that ends well. */
  get leaf(): Leaf | undefined {
    return this.#leaf;
  }

  /**
   * Reads once, and does at most one step.
   *
   * @returns `again`: something was written or another replica was faster; `done`: nothing is left to do
   * @throws CniGateError if the Secret cannot be read or written, or is not ours
   */
  async reconcile(): Promise<'again' | 'done'> {
    const { shared, report, monotonicNow } = this.#options;
    // The configurations come first: a change of the Secret from before they were read is then in the Secret, so
    // no bundle goes back to what an older Secret said.
    const configurations = await shared.configurations();
    report.observed(configurations);
    const asked = monotonicNow();
    const secret = await shared.secret();
    // The time of the request, by the API server's clock, which is known after its answer. What the authority of the
    // Secret signs is valid from then on: see trustLonger.
    const now = new Date(shared.now().getTime() - (monotonicNow() - asked));
    const plan = this.#plan(secret, configurations, now);
    try {
      const written = await this.#apply(plan, secret, now);
      const patched = await this.#writeBundles(configurations);
      if (this.#known) report.current(this.#known.state);
      return written || patched ? 'again' : 'done';
    } catch (error) {
      if (error instanceof Conflict) return 'again';
      throw error;
    }
  }

  #plan(secret: SecretSnapshot | undefined, configurations: Configurations, now: Date): Plan {
    const { monotonicNow, overlap } = this.#options;
    const reading = secret && readSecret(secret.data);
    const next = reading?.next?.fingerprint;
    this.#trustedSince = measureTrust(this.#trustedSince, next, configurations, monotonicNow());
    return planStep({
      reading,
      remembered: this.#leaf && inForce(this.#leaf, now) ? this.#known?.state : undefined,
      configurations: configurations.found,
      now,
      trustedFor: this.#trustedSince && monotonicNow() - this.#trustedSince.since,
      overlap,
    });
  }

  /** @returns whether the Secret was written */
  async #apply({ step, faults }: Plan, secret: SecretSnapshot | undefined, now: Date): Promise<boolean> {
    const { shared, report } = this.#options;
    const isRead = step.do === 'none' && secret !== undefined;
    if (secret && !isRead) this.#checkOurs(secret);
    const state = applyStep(step, { ...this.#options, now });
    const { uid } = isRead ? secret : await shared.write(secretData(state), secret);
    this.#use(state, uid, now);
    if (!isRead) report.wrote(step.do, faults);
    return !isRead;
  }

  /** Remembers a state, and signs a new serving certificate if the state or the calendar asks for one. */
  #use(state: State, uid: string, now: Date): void {
    const { names, leafDays } = this.#options;
    const { fingerprint, notAfter } = state.authority;
    const leaf = this.#leaf;
    // one that ends with its authority would only be replaced by one that ends at the same moment
    const due = leaf && renewalDue(leaf, now) && leaf.notAfter < notAfter;
    if (leaf?.signedBy !== fingerprint || !inForce(leaf, now) || due) {
      this.#leaf = {
        ...issueServing(state.authority, { names, days: leafDays, now }),
        signedBy: fingerprint,
      };
    }
    this.#known = { state, uid };
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
  async #writeBundles({ found }: Configurations): Promise<boolean> {
    if (this.#known === undefined) return false;
    const bundle = bundleOf(this.#known.state);
    const written = await Promise.all(found.map((configuration) => this.#writeBundle(configuration, bundle)));
    return written.includes(true);
  }

  async #writeBundle(configuration: ConfigurationSnapshot, bundle: string): Promise<boolean> {
    const { shared, report } = this.#options;
    const [reason] = configuration.bundles.flatMap((each) => bundleFault(each, bundle) ?? []);
    if (reason === undefined) return false;
    try {
      await shared.trust(configuration, bundle);
      report.repaired(configuration.name, reason);
      return true;
    } catch (error) {
      if (error instanceof Conflict) return true;
      if (!(error instanceof CniGateError)) throw error;
      report.failed(configuration.name, error);
      return false;
    }
  }
}
