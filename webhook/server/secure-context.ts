import type { CertificateEvents, CertificateSource } from '../../certs/files.ts';
import type { Deps } from '../lib/deps.ts';
import { type ClientOptions, requireClientCertificates } from './client-certificates.ts';
import type { App, ServerDeps } from './deps.ts';

/** Options of {@link secure}. */
export interface SecureContextOptions extends ClientOptions {
  /** Provides the serving certificate. It can wait for one: meanwhile `/readyz` says why. */
  certificate: (events: CertificateEvents, deps: Deps) => Promise<CertificateSource>;
}

/**
 * The TLS of the HTTPS port: waits for the serving certificate, checks client certificates, and replaces the secure
 * context whenever one of the two is renewed.
 *
 * @throws CniGateError where a file cannot be used; the signal's reason where the process is told to stop first
 */
export async function secure(
  app: App,
  options: SecureContextOptions,
  deps: ServerDeps,
): Promise<CertificateSource> {
  let source: CertificateSource | undefined;
  const renew = (): void => {
    if (!source) return;
    const { certificate: cert, key, notAfter } = source.current;
    const ca = clientCa && { ca: clientCa.value };
    // this replaces all options, so the lowest TLS version is here as well
    app.server.setSecureContext({ cert, key, minVersion: 'TLSv1.2', ...ca });
    deps.metrics.certificateExpires(notAfter);
  };
  const clientCa = requireClientCertificates(app, options, deps.reload('client-ca', renew));
  const { onReload, onError } = deps.reload('certificate', renew);
  const certificate = await options.certificate(
    { onReload, onError, addReadyCheck: (check) => void deps.ready.push(check) },
    deps,
  );
  source = certificate;
  app.addHook('onClose', async () => certificate.close());
  renew();
  return certificate;
}
