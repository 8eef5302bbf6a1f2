import { CniGateError } from '../webhook/lib/errors.ts';
import { issueServing, type ServingCertificate } from './issue.ts';
import {
  type ConfigurationSnapshot,
  type Configurations,
  isConflict,
  type SecretSnapshot,
  type SharedObjects,
} from './objects.ts';
import type { Reporter } from './report.ts';
import {
  bundleFault,
  bundleOf,
  isEmpty,
  measureTrust,
  type Plan,
  planStep,
  readSecret,
  type State,
  secretData,
  type TrustedSince,
} from './rotation.ts';
import { inForce, renewalDue } from './verify.ts';

/** The validity of a serving certificate in days: short, because it is renewed automatically. */
const servingDays = 7;

/** A replica's own serving certificate. `signedBy` is the fingerprint of the authority that signed it. */
export interface Leaf extends ServingCertificate {
  signedBy: string;
}

export interface ReconcilerOptions {
  shared: SharedObjects;
  report: Omit<Reporter, 'trouble'>;
  /** The DNS names and IP addresses of the serving certificate. */
  names: readonly string[];
  /** For how many milliseconds an authority must be in every caBundle before it may sign. */
  overlap: number;
}

/**
 * One replica's part in maintaining the certificates. All replicas do the same: the first to write a change wins, and
 * the others read the objects again.
 */
export class Reconciler {
  readonly #options: ReconcilerOptions;
  #known: { state: State; uid: string } | undefined;
  #leaf: Leaf | undefined;
  #trustedSince: TrustedSince | undefined;

  constructor(options: ReconcilerOptions) {
    this.#options = options;
  }

  /** The serving certificate; undefined before the first successful reconciliation. */
  get leaf(): Leaf | undefined {
    return this.#leaf;
  }

  /**
   * Reads the objects once, and takes at most one step.
   * @returns `again` if something was written, or another replica wrote first
   * @throws CniGateError if the Secret cannot be read or written, or does not belong to cni-gate
   */
  async reconcile(): Promise<'again' | 'done'> {
    const { shared, report } = this.#options;
    // The configurations are read first, so that a caBundle never gets the content of an older Secret.
    const configurations = await shared.configurations();
    for (const [name, error] of configurations.faults) report.failed(name, error);
    const secret = await shared.secret();
    // the API server's time is known only after the API server has answered
    const now = shared.now();
    try {
      const plan = this.#plan(secret, configurations, now);
      const written = plan.step !== 'none';
      if (secret && written) this.#checkOurs(secret);
      const stored = secret && !written ? secret : await shared.write(secretData(plan.state), secret);
      this.#sign(plan.state, now);
      this.#known = { state: plan.state, uid: stored.object.metadata.uid };
      if (written) report.wrote(plan);
      const bundle = bundleOf(plan.state);
      const patched = await Promise.all(configurations.found.map((each) => this.#writeBundle(each, bundle)));
      report.agreed(plan.state);
      return written || patched.includes(true) ? 'again' : 'done';
    } catch (error) {
      if (isConflict(error)) return 'again';
      throw error;
    }
  }

  #plan(secret: SecretSnapshot | undefined, { found, faults }: Configurations, now: Date): Plan {
    const { overlap } = this.#options;
    const reading = readSecret(secret?.data, now);
    // a configuration that cannot be read may lack the next authority, so this authority must not sign yet
    const areRead = [...faults.values()].every(({ code }) => code === 'CNI_GATE_CA_BUNDLE');
    if (areRead) {
      const next = reading.state?.next?.fingerprint;
      this.#trustedSince = measureTrust(this.#trustedSince, next, found, performance.now());
    }
    return planStep({
      reading,
      remembered: this.#leaf && inForce(this.#leaf, now) ? this.#known?.state : undefined,
      now,
      trustedFor: areRead && this.#trustedSince ? performance.now() - this.#trustedSince.since : undefined,
      overlap,
    });
  }

  #sign({ authority }: State, now: Date): void {
    const { names } = this.#options;
    const { fingerprint, notAfter } = authority;
    const leaf = this.#leaf;
    // if the certificate expires together with its authority, a new certificate would not be valid for longer
    const due = leaf && renewalDue(leaf, now) && leaf.notAfter < notAfter;
    if (leaf?.signedBy === fingerprint && inForce(leaf, now) && !due) return;
    this.#leaf = { ...issueServing(authority, { names, days: servingDays, now }), signedBy: fingerprint };
  }

  /** Throws unless the Secret has our label, is empty, or was used by this replica before. */
  #checkOurs({ labelled, object, data }: SecretSnapshot): void {
    if (labelled || isEmpty(data) || object.metadata.uid === this.#known?.uid) return;
    throw new CniGateError(
      'CNI_GATE_TLS_SECRET_FOREIGN',
      `the Secret does not carry our label and contains ${Object.keys(data).join(', ')}: cni-gate does not change it. Delete it, empty it, label it, or name another one`,
    );
  }

  /** @returns whether the configuration must be read again */
  async #writeBundle(configuration: ConfigurationSnapshot, bundle: string): Promise<boolean> {
    const { shared, report } = this.#options;
    const { name, bundles } = configuration;
    const [reason] = bundles.flatMap((each) => bundleFault(each, bundle) ?? []);
    try {
      if (reason !== undefined) {
        await shared.trust(configuration, bundle);
        report.repaired(name, reason);
      }
      report.well(name);
      return reason !== undefined;
    } catch (error) {
      if (isConflict(error)) return true;
      if (!(error instanceof CniGateError)) throw error;
      report.failed(name, error);
      return false;
    }
  }
}
