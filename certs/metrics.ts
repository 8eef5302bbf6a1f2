import { Counter, Gauge, type Registry } from 'prom-client';

/** Metrics of managed certificates. Names follow https://prometheus.io/docs/practices/naming/. */
export class CertificateMetrics {
  readonly authorityExpiry: Gauge;
  readonly authorities: Gauge;
  readonly steps: Counter<'step'>;
  readonly repairs: Counter<'object' | 'reason'>;
  readonly failures: Counter<'code'>;
  readonly bundleComplete: Gauge<'configuration'>;
  readonly clockSkew: Gauge;

  constructor(registry: Registry) {
    const registers = [registry];
    this.authorityExpiry = new Gauge({
      name: 'cni_gate_authority_not_after_timestamp_seconds',
      help: 'When the authority that signs the serving certificate expires, in seconds since the epoch.',
      registers,
    });
    this.authorities = new Gauge({
      name: 'cni_gate_authorities',
      help: 'Authorities that the caBundles should contain: 1, and more during a rotation of the authority.',
      registers,
    });
    this.steps = new Counter({
      name: 'cni_gate_certificate_steps_total',
      help: 'Steps that this replica wrote into the Secret of the certificates, by step.',
      labelNames: ['step'],
      registers,
    });
    this.repairs = new Counter({
      name: 'cni_gate_certificate_repairs_total',
      help: 'Faults of the Secret or of a caBundle that this replica repaired, by what was wrong.',
      labelNames: ['object', 'reason'],
      registers,
    });
    this.failures = new Counter({
      name: 'cni_gate_certificate_failures_total',
      help: 'Reads, writes and repairs of the certificates that failed and are tried again, by error code.',
      labelNames: ['code'],
      registers,
    });
    this.bundleComplete = new Gauge({
      name: 'cni_gate_ca_bundle_complete',
      help: 'Whether a webhook configuration was last read with the caBundle that it should have.',
      labelNames: ['configuration'],
      registers,
    });
    this.clockSkew = new Gauge({
      name: 'cni_gate_api_server_clock_skew_seconds',
      help: "API server's clock minus this machine's, to about a second.",
      registers,
    });
  }
}
