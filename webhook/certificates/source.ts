import type { Deps } from '../lib/deps.ts';
import { messageOf } from '../lib/errors.ts';
import type { CertificateEvents, CertificatePair, CertificateSource } from '../server/tls.ts';
import { ManagedCertificates, type ManagedOptions } from './managed.ts';
import { CertificateMetrics } from './metrics.ts';

/**
 * The serving certificate that lies in a Secret of the cluster, kept there by all replicas. It is waited for as long
 * as it takes: a cluster that does not answer yet is no error.
 *
 * @throws the reason of the signal, where the server is told to stop first
 */
export async function managedCertificate(
  options: ManagedOptions,
  events: CertificateEvents,
  { registry, log, signal }: Deps,
): Promise<CertificateSource> {
  const first = Promise.withResolvers<CertificatePair>();
  let current: CertificatePair | undefined;
  const managed = new ManagedCertificates(options, {
    log,
    metrics: new CertificateMetrics(registry),
    onState: ({ leaf: { certificate, key, facts } }) => {
      if (current?.certificate === certificate) return;
      const before = current;
      current = { certificate, key, notAfter: facts.notAfter };
      if (before) events.onReload(current);
      else first.resolve(current);
    },
  });
  events.addReadyCheck(() => managed.unready());
  const running = managed.run();
  const close = async (): Promise<void> => {
    managed.stop();
    await running;
  };
  signal.addEventListener('abort', () => first.reject(signal.reason));
  if (signal.aborted) first.reject(signal.reason);
  try {
    const pair = await first.promise;
    return {
      get current() {
        return current ?? pair;
      },
      close,
    };
  } catch (error) {
    log.info({}, `stopped before there was a serving certificate: ${messageOf(error)}`);
    await close();
    throw error;
  }
}
