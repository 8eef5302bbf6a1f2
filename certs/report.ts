import type { Log } from '../webhook/lib/deps.ts';
import type { CniGateError } from '../webhook/lib/errors.ts';
import type { CertificateMetrics } from './metrics.ts';
import type { Step } from './plan.ts';
import type { Leaf, ReconcilerEvents } from './reconcile.ts';
import type { ConfigurationsSnapshot } from './shared.ts';
import { bundleOf, type Fault, type FaultReason, type State } from './state.ts';
import { bundleFault, trustedBy } from './trust.ts';

const sentences: Record<Step['do'], string> = {
  none: 'nothing to do',
  wait: 'waiting for a replica that may know better',
  restore: 'written back what this replica remembered',
  create: 'created a new authority',
  begin: 'created the next authority; it signs nothing until every API server trusts it',
  promote: 'the next authority signs from now on; the one before it is still trusted',
  drop: 'the previous authority is no longer trusted',
  rewrite: 'removed what could not be used',
};

/** Milliseconds by which a clock may be wrong without a log line. */
const allowedSkew = 30_000;

/** Logs and counts what a {@link Reconciler} does. A condition that stays the same is logged once. */
export class Report implements ReconcilerEvents {
  readonly #log: Log;
  readonly #metrics: CertificateMetrics;
  readonly #onCurrent: (state: State, leaf: Leaf) => void;
  readonly #clockSkew: () => number;
  /** The webhook configurations as they were last read. */
  #observed: ConfigurationsSnapshot['configurations'] = [];
  /** Names of the configurations in which this replica has seen a caBundle. */
  readonly #filled = new Set<string>();
  /** What was logged last, by what it is about. */
  readonly #logged = new Map<string, string>();

  /**
   * @param clockSkew milliseconds: the API server's clock minus ours
   * @param onCurrent called with each state that was read or written, and the certificate to serve
   */
  constructor(
    log: Log,
    metrics: CertificateMetrics,
    clockSkew: () => number,
    onCurrent: (state: State, leaf: Leaf) => void,
  ) {
    this.#log = log;
    this.#metrics = metrics;
    this.#clockSkew = clockSkew;
    this.#onCurrent = onCurrent;
  }

  /** Why nothing can be served so far, or what failed last; undefined where nothing is wrong. */
  get trouble(): string | undefined {
    return this.#logged.get('secret');
  }

  wrote(step: Step['do'], faults: Fault[]): void {
    this.#metrics.steps.inc({ step });
    for (const { part, reason, code, message } of faults) {
      this.#metrics.repairs.inc({ object: 'secret', reason });
      this.#log.warn({ code, part, reason, step }, `${message} (${code}); repaired: ${sentences[step]}`);
    }
    if (faults.length === 0) this.#log.info({ step }, `certificates: ${sentences[step]}`);
  }

  waiting([fault]: Fault[]): void {
    const what =
      fault?.message ??
      'the caBundles trust an authority that is not in the Secret, or not the one that signs there';
    this.#once('secret', what, () => this.#log.warn({ code: fault?.code }, `${what}: ${sentences.wait}`));
  }

  repaired(configuration: string, reason: FaultReason): void {
    this.#metrics.repairs.inc({ object: 'webhook-configuration', reason });
    this.#metrics.bundleComplete.set({ configuration }, 1);
    // manifests bring no caBundle, so nobody has emptied one that was never seen full
    const isNew = reason === 'empty' && !this.#filled.has(configuration);
    this.#filled.add(configuration);
    if (isNew) this.#log.info({ configuration }, `the caBundle of ${configuration} was filled in`);
    else
      this.#log.warn({ configuration, reason }, `the caBundle of ${configuration} was ${reason}; repaired`);
  }

  failed(about: string, { code, message }: CniGateError): void {
    this.#metrics.failures.inc({ code });
    this.#once(about, message, () =>
      this.#log.error({ about, code }, `${message} (${code}); it is tried again`),
    );
  }

  observed({ configurations, absent, failed }: ConfigurationsSnapshot): void {
    for (const { name, bundles } of configurations) if (bundles.some(Boolean)) this.#filled.add(name);
    for (const [configuration, message] of absent) {
      this.#metrics.bundleComplete.set({ configuration }, 0);
      this.#filled.delete(configuration);
      const code = 'CNI_GATE_CA_BUNDLE';
      this.#once(configuration, message, () =>
        this.#log.warn({ configuration, code }, `${message} (${code})`),
      );
    }
    for (const [configuration, error] of failed) {
      this.#metrics.bundleComplete.set({ configuration }, 0);
      this.failed(configuration, error);
    }
    this.#observed = configurations;
  }

  current(state: State, leaf: Leaf): void {
    const expected = bundleOf(state);
    for (const { name: configuration, bundles } of this.#observed) {
      const complete = bundles.every((bundle) => bundleFault(bundle, expected) === undefined);
      this.#metrics.bundleComplete.set({ configuration }, complete ? 1 : 0);
      if (complete) this.#over(configuration);
    }
    this.#metrics.authorityExpiry.set(state.authority.notAfter.getTime() / 1000);
    this.#metrics.authorities.set(trustedBy(state).size);
    this.#over('secret');
    this.#reportClock();
    this.#onCurrent(state, leaf);
  }

  #reportClock(): void {
    const skew = this.#clockSkew() / 1000;
    this.#metrics.clockSkew.set(skew);
    if (Math.abs(skew) <= allowedSkew / 1000) {
      this.#over('clock');
      return;
    }
    const seconds = Math.round(Math.abs(skew));
    const message = `the clock of this machine is ${seconds} s ${skew > 0 ? 'behind' : 'ahead of'} the API server's, which is the one that certificates are issued for`;
    this.#once('clock', 'wrong', () => this.#log.warn({ skew }, message));
  }

  #once(about: string, message: string, log: () => void): void {
    if (this.#logged.get(about) === message) return;
    this.#logged.set(about, message);
    log();
  }

  #over(about: string): void {
    if (this.#logged.delete(about))
      this.#log.info({ about }, `certificates: all is well again with the ${about}`);
  }
}
