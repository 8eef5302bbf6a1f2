import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { CertificateEvents, CertificateSource } from '../../certs/files.ts';
import { namesIn, readCertificates } from '../../certs/verify.ts';
import type { Deps } from '../lib/deps.ts';
import { CniGateError } from '../lib/errors.ts';
import { LiveFiles, type ReloadListener } from '../lib/live-files.ts';
import type { App, ServerDeps } from './deps.ts';

export interface SecureContextOptions {
  /** Provides the serving certificate. Until there is one, `/readyz` says why. */
  certificate: (events: CertificateEvents, deps: Deps) => Promise<CertificateSource>;
  /** PEM file of the authorities that sign client certificates; without it, callers need no certificate. */
  clientCa?: string | undefined;
  /** A client certificate must have one of these common names or DNS names; by default, it may have any name. */
  clientName?: string[] | undefined;
}

/**
 * Sets up TLS for the HTTPS port. Replaces the serving certificate and the client authorities when they are renewed.
 * @throws CniGateError if a file cannot be used; the signal's reason if the process has to stop first
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
    // this call replaces all options, so the minimum TLS version is repeated
    app.server.setSecureContext({ cert, key, minVersion: 'TLSv1.2', ...ca });
    deps.metrics.certificateExpires(notAfter);
  };
  const clientCa = requireClientCertificates(app, options, deps.reload('client-ca', renew));
  const events = {
    ...deps.reload('certificate', renew),
    addReadyCheck: (check: ServerDeps['ready'][number]) => void deps.ready.push(check),
  };
  const certificate = await options.certificate(events, deps);
  source = certificate;
  app.addHook('onClose', async () => certificate.close());
  renew();
  return certificate;
}

/**
 * Checks the client certificates of callers, and returns the PEM of the authorities. When these change, connections
 * that were accepted earlier end after their next answer. The API server sends a certificate only if it is configured
 * to: https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#authenticate-apiservers
 * @throws CniGateError CNI_GATE_TLS_UNREADABLE if the file cannot be used at the start
 */
function requireClientCertificates(
  app: App,
  { clientCa, clientName }: SecureContextOptions,
  listener: ReloadListener,
): LiveFiles<string> | undefined {
  if (clientCa === undefined) return undefined;
  const authorities = new LiveFiles({
    ...listener,
    paths: [clientCa],
    unreadable: 'CNI_GATE_TLS_UNREADABLE',
    parse: ([pem = '']) => {
      readCertificates(pem);
      return pem;
    },
  });
  const acceptedBy = new WeakMap<Socket, string>();
  app.addHook('onClose', async () => authorities.close());
  app.server.on('secureConnection', (socket) => acceptedBy.set(socket, authorities.value));
  app.addHook('onRequest', async ({ raw }, reply) => {
    if (acceptedBy.get(raw.socket) !== authorities.value) reply.header('connection', 'close');
    check(raw, clientName);
  });
  return authorities;
}

/** Checks the certificate of a caller. @throws CniGateError CNI_GATE_CLIENT_CERTIFICATE or CNI_GATE_CLIENT_NAME */
function check(request: IncomingMessage, names: string[] | undefined): void {
  // this port accepts only TLS
  const socket = request.socket as TLSSocket;
  const shown = socket.getPeerX509Certificate();
  if (!shown || !socket.authorized || new Date() > shown.validToDate) {
    const got = shown ? `one that is refused (${String(socket.authorizationError ?? 'expired')})` : 'none';
    throw new CniGateError(
      'CNI_GATE_CLIENT_CERTIFICATE',
      `expected a client certificate signed by an authority of --client-ca, got ${got}`,
    );
  }
  const common = /^CN=(.*)$/m.exec(shown.subject)?.[1];
  const own = [...(common === undefined ? [] : [common]), ...namesIn(shown.subjectAltName)];
  if (names && !names.some((name) => own.includes(name))) {
    throw new CniGateError(
      'CNI_GATE_CLIENT_NAME',
      `expected a client certificate for ${names.join(' or ')}, got one for ${own.join(', ') || 'no name'}`,
    );
  }
}
