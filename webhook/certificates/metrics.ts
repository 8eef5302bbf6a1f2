import { Counter, Gauge, type Registry } from 'prom-client';
import type { FaultReason } from '../../certs/managed/fault.ts';
import type { Step } from '../../certs/managed/plan.ts';
import type { ErrorCode } from '../lib/errors.ts';

/** What is measured of managed certificates. Names follow https://prometheus.io/docs/practices/naming/. */
export class CertificateMetrics {
  readonly #authorityExpiry: Gauge;
  readonly #authorities: Gauge;
  readonly #steps: Counter<'step'>;
  readonly #mends: Counter<'object' | 'reason'>;
  readonly #failures: Counter<'code'>;
  readonly #trusted: Gauge<'configuration'>;
  readonly #ahead: Gauge;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#authorityExpiry = new Gauge({
      name: 'cni_gate_authority_not_after_timestamp_seconds',
      help: 'When the authority that signs the serving certificate expires, in seconds since the epoch.',
      registers,
    });
    this.#authorities = new Gauge({
      name: 'cni_gate_authorities',
      help: 'Authorities that the caBundles should hold: 1, and more while the authority is rotated.',
      registers,
    });
    this.#steps = new Counter({
      name: 'cni_gate_certificate_steps_total',
      help: 'Steps that this replica wrote into the Secret of the certificates, by which it was.',
      labelNames: ['step'],
      registers,
    });
    this.#mends = new Counter({
      name: 'cni_gate_certificate_mends_total',
      help: 'Faults of the Secret or of a caBundle that this replica mended, by what was wrong.',
      labelNames: ['object', 'reason'],
      registers,
    });
    this.#failures = new Counter({
      name: 'cni_gate_certificate_failures_total',
      help: 'What could not be read, written or mended for the certificates, and is tried again, by error code.',
      labelNames: ['code'],
      registers,
    });
    this.#trusted = new Gauge({
      name: 'cni_gate_ca_bundle_complete',
      help: 'Whether a webhook configuration was last seen with the caBundle that it should have.',
      labelNames: ['configuration'],
      registers,
    });
    this.#ahead = new Gauge({
      name: 'cni_gate_api_server_clock_ahead_seconds',
      help: "By how much the API server's clock is ahead of this machine's, to a second or so.",
      registers,
    });
  }

  stepped(step: Step['do']): void {
    this.#steps.inc({ step });
  }

  mended(object: 'secret' | 'webhook-configuration', reason: FaultReason): void {
    this.#mends.inc({ object, reason });
  }

  failed(code: ErrorCode): void {
    this.#failures.inc({ code });
  }

  /** @param count how many authorities have to be trusted */
  authorities(notAfter: Date, count: number): void {
    this.#authorityExpiry.set(notAfter.getTime() / 1000);
    this.#authorities.set(count);
  }

  trusts(configuration: string, complete: boolean): void {
    this.#trusted.set({ configuration }, complete ? 1 : 0);
  }

  /** @param ms by which the API server's clock is ahead */
  clockAhead(ms: number): void {
    this.#ahead.set(ms / 1000);
  }
}
