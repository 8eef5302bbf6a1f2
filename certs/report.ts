import { Counter, Gauge, type Registry } from 'prom-client';
import type { Log } from '../webhook/lib/deps.ts';
import type { CniGateError } from '../webhook/lib/errors.ts';
import type { Configurations } from './objects.ts';
import type { Step } from './rotation.ts';
import { bundleFault, bundleOf, type Fault, type FaultReason, type State, trustedIn } from './state.ts';

const sentences: Record<Step['do'], string> = {
  none: 'nothing to do',
  restore: 'written back what this replica remembered',
  create: 'created a new authority',
  begin: 'created the next authority; it signs nothing until every API server trusts it',
  promote: 'the next authority signs from now on; the one before it is still trusted',
  drop: 'the previous authority is no longer trusted',
  rewrite: 'removed what could not be used',
};

/** Seconds by which a clock may be wrong without a log line. */
const allowedSkew = 30;

/** Logs and counts what a {@link Reconciler} does. A condition that stays the same is logged once. */
export class Report {
  readonly #log: Log;
  readonly #metrics: ReturnType<typeof certificateMetrics>;
  readonly #clockSkew: () => number;
  /** The webhook configurations as they were last read. */
  #observed: Configurations['found'] = [];
  /** What was logged last, by what it is about. */
  readonly #logged = new Map<string, string>();

  /** @param clockSkew milliseconds: the API server's clock minus ours */
  constructor(log: Log, registry: Registry, clockSkew: () => number) {
    this.#log = log;
    this.#metrics = certificateMetrics(registry);
    this.#clockSkew = clockSkew;
  }

  /** What failed last; undefined if nothing is wrong. */
  get trouble(): string | undefined {
    return this.#logged.get('secret');
  }

  /** A step was written into the Secret; `faults` is what it repaired. */
  wrote(step: Step['do'], faults: Fault[]): void {
    this.#metrics.steps.inc({ step });
    for (const { reason, code, message } of faults) {
      this.#metrics.repairs.inc({ object: 'secret', reason });
      this.#log.warn({ code, reason, step }, `${message} (${code}); repaired: ${sentences[step]}`);
    }
    if (faults.length === 0) this.#log.info({ step }, `certificates: ${sentences[step]}`);
  }

  /** A caBundle was written, because of what was wrong with it. */
  repaired(configuration: string, reason: FaultReason): void {
    this.#metrics.repairs.inc({ object: 'webhook-configuration', reason });
    this.#metrics.bundleComplete.set({ configuration }, 1);
    // manifests bring no caBundle
    const level = reason === 'empty' ? 'info' : 'warn';
    this.#log[level]({ configuration, reason }, `the caBundle of ${configuration} was ${reason}; written`);
  }

  /** Something failed; the next reconciliation tries it again. */
  failed(about: string, { code, message }: CniGateError): void {
    this.#metrics.failures.inc({ code });
    this.#once(about, message, () =>
      this.#log.error({ about, code }, `${message} (${code}); it is tried again`),
    );
  }

  /** The webhook configurations were read. */
  observed({ found, faults }: Configurations): void {
    this.#observed = found;
    for (const [configuration, error] of faults) {
      this.#metrics.bundleComplete.set({ configuration }, 0);
      this.failed(configuration, error);
    }
  }

  /** The Secret was read or written, and has no fault. */
  current(state: State): void {
    const expected = bundleOf(state);
    for (const { name: configuration, bundles } of this.#observed) {
      const complete = bundles.every((bundle) => bundleFault(bundle, expected) === undefined);
      this.#metrics.bundleComplete.set({ configuration }, complete ? 1 : 0);
      if (complete) this.#over(configuration);
    }
    this.#metrics.authorityExpiry.set(state.authority.notAfter.getTime() / 1000);
    this.#metrics.authorities.set(trustedIn(state).length);
    this.#over('secret');
    this.#reportClock();
  }

  #reportClock(): void {
    const skew = this.#clockSkew() / 1000;
    this.#metrics.clockSkew.set(skew);
    if (Math.abs(skew) <= allowedSkew) {
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

/** Metrics of managed certificates. Names follow https://prometheus.io/docs/practices/naming/. */
export function certificateMetrics(registry: Registry) {
  const registers = [registry];
  return {
    authorityExpiry: new Gauge({
      name: 'cni_gate_authority_not_after_timestamp_seconds',
      help: 'When the signing authority expires, as Unix time.',
      registers,
    }),
    authorities: new Gauge({
      name: 'cni_gate_authorities',
      help: 'Authorities that the caBundles should contain: more than 1 during a rotation.',
      registers,
    }),
    steps: new Counter({
      name: 'cni_gate_certificate_steps_total',
      help: 'Steps that this replica wrote into the Secret.',
      labelNames: ['step'],
      registers,
    }),
    repairs: new Counter({
      name: 'cni_gate_certificate_repairs_total',
      help: 'Faults of Secret or caBundle that this replica repaired.',
      labelNames: ['object', 'reason'],
      registers,
    }),
    failures: new Counter({
      name: 'cni_gate_certificate_failures_total',
      help: 'Failed reads, writes and repairs, which are retried.',
      labelNames: ['code'],
      registers,
    }),
    bundleComplete: new Gauge({
      name: 'cni_gate_ca_bundle_complete',
      help: '1 if the caBundle is right.',
      labelNames: ['configuration'],
      registers,
    }),
    clockSkew: new Gauge({
      name: 'cni_gate_api_server_clock_skew_seconds',
      help: "API server's clock minus this machine's, to about a second.",
      registers,
    }),
  };
}
