import type { Registry } from 'prom-client';
import type { Log } from '../webhook/lib/deps.ts';
import type { CniGateError } from '../webhook/lib/errors.ts';
import { counter, gauge } from '../webhook/lib/metrics.ts';
import { type FaultReason, type Plan, type State, trustedIn } from './rotation.ts';

export type Reporter = ReturnType<typeof reporter>;

/** Logs and counts what a replica does about the certificates. A lasting fault is logged once. */
export function reporter(log: Log, registry: Registry) {
  const metrics = certificateMetrics(registry);
  /** The messages of current faults. A key is `secret`, or the name of a webhook configuration. */
  const wrong = new Map<string, string>();
  const setComplete = (configuration: string, isComplete: boolean): void => {
    if (configuration.includes('/')) metrics.bundleComplete.set({ configuration }, Number(isComplete));
  };
  const well = (about: string): void => {
    setComplete(about, true);
    if (wrong.delete(about)) log.info({ about }, `certificates: all is well again with the ${about}`);
  };
  return {
    /** The current fault of the Secret; undefined if there is none. */
    trouble: () => wrong.get('secret'),
    well,
    wrote({ step, fault }: Plan): void {
      metrics.steps.inc({ step });
      if (!fault) {
        log.info({ step }, `certificates: step ${step}`);
        return;
      }
      const { reason, message } = fault;
      const code = 'CNI_GATE_TLS_SECRET';
      metrics.repairs.inc({ object: 'secret', reason });
      log.warn({ code, reason, step }, `${message} (${code}); repaired: ${step}`);
    },
    repaired(configuration: string, reason: FaultReason): void {
      metrics.repairs.inc({ object: 'webhook-configuration', reason });
      // the manifests have no caBundle, so an empty one is expected at first
      const level = reason === 'empty' ? 'info' : 'warn';
      log[level]({ configuration, reason }, `the caBundle of ${configuration} was ${reason}; written`);
    },
    failed(about: string, { code, message }: CniGateError): void {
      setComplete(about, false);
      metrics.failures.inc({ code });
      if (wrong.get(about) !== message) log.error({ about, code }, `${message} (${code}); it is tried again`);
      wrong.set(about, message);
    },
    agreed(state: State): void {
      metrics.authorityExpiry.set(state.authority.notAfter.getTime() / 1000);
      metrics.authorities.set(trustedIn(state).length);
      well('secret');
    },
  };
}

/** The metrics of managed certificates: docs/reference/metrics.md. */
export function certificateMetrics(registry: Registry) {
  const gaugeOf = (name: string, help: string, ...labels: string[]) =>
    gauge(registry, `cni_gate_${name}`, help, ...labels);
  const counterOf = (name: string, help: string, ...labels: string[]) =>
    counter(registry, `cni_gate_certificate_${name}_total`, help, ...labels);
  const expiryHelp = 'When the signing authority expires, as Unix time.';
  const authoritiesHelp = 'Authorities that the caBundles should contain: more than 1 during a rotation.';
  const repairsHelp = 'Faults of Secret or caBundle that this replica repaired.';
  return {
    authorityExpiry: gaugeOf('authority_not_after_timestamp_seconds', expiryHelp),
    authorities: gaugeOf('authorities', authoritiesHelp),
    steps: counterOf('steps', 'Steps that this replica wrote into the Secret.', 'step'),
    repairs: counterOf('repairs', repairsHelp, 'object', 'reason'),
    failures: counterOf('failures', 'Failed reads, writes and repairs, which are retried.', 'code'),
    bundleComplete: gaugeOf('ca_bundle_complete', '1 if the caBundle is right.', 'configuration'),
  };
}
