import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { namesIn, readCertificates } from '../../certs/verify.ts';
import { CniGateError } from '../lib/errors.ts';
import { serverLimits } from '../lib/limits.ts';
import { LiveFiles, type LiveFilesOptions } from '../lib/live-files.ts';

/** Milliseconds from the accept to the end of the handshake, with some for a timer that is late. */
const longestHandshake = serverLimits.handshakeTimeout + 1_000;

/**
 * Checks the client certificates of callers. The API server sends one only if its AdmissionConfiguration names a
 * kubeconfig for the webhook:
 * https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/#authenticate-apiservers
 */
export class ClientCertificates {
  readonly #file: LiveFiles<string>;
  readonly #names: readonly string[] | undefined;
  /** The authorities by which each connection was accepted. */
  readonly #judgedBy = new WeakMap<Socket, string>();
  /** When the authorities changed, in milliseconds of `performance.now()`. */
  #changed = Number.NEGATIVE_INFINITY;

  /**
   * @param file PEM of the authorities that sign client certificates; reloaded when it changes
   * @param names common names or DNS names, of which a certificate must have one; any where nothing is given
   * @throws CniGateError CNI_GATE_TLS_UNREADABLE where the file cannot be used at the start
   */
  constructor(
    file: string,
    names: readonly string[] | undefined,
    reported: Pick<LiveFilesOptions<string>, 'onReload' | 'onError' | 'interval'>,
  ) {
    this.#names = names;
    this.#file = new LiveFiles({
      ...reported,
      paths: [file],
      unreadable: 'CNI_GATE_TLS_UNREADABLE',
      parse: ([pem = '']) => {
        readCertificates(pem);
        return pem;
      },
      onReload: (pem) => {
        this.#changed = performance.now();
        reported.onReload?.(pem);
      },
    });
  }

  /** PEM of the authorities in force. */
  get authorities(): string {
    return this.#file.value;
  }

  /** Remembers by which authorities a connection was accepted. Its handshake is at its end. */
  connected(socket: TLSSocket): void {
    // it may have begun with the authorities from before the change: these judge it then
    if (performance.now() - this.#changed > longestHandshake) this.#judgedBy.set(socket, this.authorities);
  }

  /** Whether other authorities than those in force now may have accepted the connection. It must close then. */
  isStale({ socket }: IncomingMessage): boolean {
    return this.#judgedBy.get(socket) !== this.authorities;
  }

  /**
   * Checks the certificate of a caller.
   *
   * @throws CniGateError CNI_GATE_CLIENT_CERTIFICATE where the caller sent no certificate that these authorities signed;
   *   CNI_GATE_CLIENT_NAME where the certificate has none of the names
   */
  check(request: IncomingMessage): void {
    // the port speaks TLS only
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
    if (this.#names && !this.#names.some((name) => own.includes(name))) {
      throw new CniGateError(
        'CNI_GATE_CLIENT_NAME',
        `expected a client certificate for ${this.#names.join(' or ')}, got one for ${own.join(', ') || 'no name'}`,
      );
    }
  }

  /** Stops watching the file. */
  close(): void {
    this.#file.close();
  }
}
