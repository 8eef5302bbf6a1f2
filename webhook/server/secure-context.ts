import type { CertificateEvents, CertificateSource } from '../../certs/sources.ts';
import type { Deps } from '../lib/deps.ts';
import { ClientCertificates } from './client-certificates.ts';
import { plugin } from './plugin.ts';

/** Options of the plugin {@link secureContext}. */
export interface SecureContextOptions {
  /** Provides the serving certificate. It can wait for one: meanwhile `/readyz` says why. */
  certificate: (events: CertificateEvents, deps: Deps) => Promise<CertificateSource>;
  /** PEM file of authorities that sign client certificates; without it callers need no certificate. */
  clientCa?: string | undefined;
  /** Common names or DNS names of which a client certificate must have one; any where nothing is given. */
  clientName?: string[] | undefined;
}

declare module 'fastify' {
  interface FastifyInstance {
    /** Decorated by the plugin `secure-context`. */
    certificate: CertificateSource;
  }
}

/**
 * The TLS of the HTTPS port: waits for the serving certificate, checks client certificates, and replaces the secure
 * context whenever one of the two is renewed.
 *
 * @throws CniGateError where a file cannot be used; the signal's reason where the process is told to stop first
 */
export const secureContext = plugin<SecureContextOptions>('secure-context', async (app, options) => {
  const { deps } = options;
  const { metrics, ready } = deps;
  let source: CertificateSource | undefined;
  const renew = (): void => {
    if (!source) return;
    const { certificate: cert, key } = source.current;
    const ca = clients && { ca: clients.authorities };
    // this replaces all options, so the lowest TLS version is here as well
    app.server.setSecureContext({ cert, key, minVersion: 'TLSv1.2', ...ca });
  };

  const { onReload: clientsReloaded, ...clientsListener } = deps.reload('client-ca');
  const clients =
    options.clientCa === undefined
      ? undefined
      : new ClientCertificates(options.clientCa, options.clientName, {
          ...clientsListener,
          onReload: () => {
            renew();
            clientsReloaded();
          },
        });
  if (clients) {
    app.addHook('onClose', async () => clients.close());
    app.server.on('secureConnection', (socket) => clients.connected(socket));
    app.addHook('onRequest', async ({ raw }, reply) => {
      if (clients.isStale(raw)) reply.header('connection', 'close');
      clients.check(raw);
    });
  }

  const { onReload: certificateReloaded, onError } = deps.reload('certificate');
  const certificate = await options.certificate(
    {
      onReload: (pair) => {
        renew();
        metrics.certificateExpires(pair.notAfter);
        certificateReloaded();
      },
      onError,
      addReadyCheck: (check) => void ready.push(check),
    },
    deps,
  );
  source = certificate;
  app.addHook('onClose', async () => certificate.close());
  renew();
  metrics.certificateExpires(certificate.current.notAfter);
  app.decorate('certificate', certificate);
});
