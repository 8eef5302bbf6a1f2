import type { CertificateEvents, CertificateSource } from '../../certs/files.ts';
import type { Deps } from '../lib/deps.ts';
import type { App, ServerDeps } from './deps.ts';

/** Provides the serving certificate. Until there is one, `/readyz` says why. */
export type CertificateProvider = (events: CertificateEvents, deps: Deps) => Promise<CertificateSource>;

/**
 * Sets up TLS for the HTTPS port. Replaces the serving certificate when it is renewed.
 * @throws CniGateError if a file cannot be used; the signal's reason if the process has to stop first
 */
export async function secure(
  app: App,
  provide: CertificateProvider,
  deps: ServerDeps,
): Promise<CertificateSource> {
  let source: CertificateSource | undefined;
  const renew = (): void => {
    if (!source) return;
    const { certificate: cert, key, notAfter } = source.current;
    // this call replaces all options, so the minimum TLS version is repeated
    app.server.setSecureContext({ cert, key, minVersion: 'TLSv1.2' });
    deps.metrics.certificateExpires(notAfter);
  };
  const events = {
    ...deps.reload('certificate', renew),
    addReadyCheck: (check: ServerDeps['ready'][number]) => void deps.ready.push(check),
  };
  const certificate = await provide(events, deps);
  source = certificate;
  app.addHook('onClose', async () => certificate.close());
  renew();
  return certificate;
}
