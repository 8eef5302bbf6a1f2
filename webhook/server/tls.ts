import type { SecureContextOptions } from 'node:tls';
import { createAuthority } from '../../certs/authority.ts';
import { checkPair } from '../../certs/pair.ts';
import { renewalDue } from '../../certs/renewal.ts';
import { issueServing } from '../../certs/serving.ts';
import { CniGateError } from '../lib/errors.ts';
import { LiveFiles } from '../lib/live-files.ts';

/** A serving certificate (a chain, the leaf first) and its key, in PEM. */
export interface CertificatePair {
  certificate: string;
  key: string;
  notAfter: Date;
}

/** Where the serving certificate comes from, and who is told when there is a new one. */
export interface CertificateSource {
  readonly current: CertificatePair;
  /** PEM of the authority that a webhook configuration's caBundle must hold; unknown for files. */
  readonly authority?: string;
  close(): void | Promise<void>;
}

/** What a source of certificates reports to the server. */
export interface CertificateEvents {
  /** Another certificate is in force. */
  onReload: (pair: CertificatePair) => void;
  /** A new certificate cannot be used; the last good one stays in force. */
  onError: (error: unknown) => void;
  /** Adds a check to `/readyz`: why there is no certificate in force, or undefined where there is one. */
  addReadyCheck: (check: () => string | undefined) => void;
}

/**
 * Options for the server and for each change of its certificate: both need the lowest TLS version.
 *
 * @param clientAuthorities PEM of those who may sign the certificates of clients
 */
export function secureOptions(pair: CertificatePair, clientAuthorities?: string): SecureContextOptions {
  return {
    cert: pair.certificate,
    key: pair.key,
    minVersion: 'TLSv1.2',
    ...(clientAuthorities !== undefined && { ca: clientAuthorities }),
  };
}

/**
 * A certificate and key in files, looked at for changes. A pair that does not belong together, as while one of
 * two files is written, is never served.
 *
 * @throws CniGateError when the pair cannot be used at the start
 */
export function fileCertificate(
  certificateFile: string,
  keyFile: string,
  { onReload, onError }: Pick<CertificateEvents, 'onReload' | 'onError'>,
  interval?: number,
): CertificateSource {
  const files = new LiveFiles<CertificatePair>({
    onReload,
    onError,
    paths: [certificateFile, keyFile],
    unreadable: 'CNI_GATE_TLS_UNREADABLE',
    parse: ([certificate = '', key = '']) => {
      const { notAfter, names } = checkPair(certificate, key, new Date());
      if (names.length === 0) {
        const message = `${certificateFile} has no subjectAltName: the API server, as all of Go, does not look at the common name`;
        throw new CniGateError('CNI_GATE_TLS_PAIR', message);
      }
      return { certificate, key, notAfter };
    },
    ...(interval !== undefined && { interval }),
  });
  return {
    get current() {
      return files.value;
    },
    close: () => files.close(),
  };
}

/** How often the clock is looked at; a longer timer would not notice that the machine slept. */
const renewalCheck = 60_000;

/**
 * A certificate from an authority that lives as long as this process, issued anew at two thirds of its life.
 *
 * @param names DNS names and addresses that the server is called by
 * @param days validity of the serving certificate
 */
export async function selfMadeCertificate(
  names: string[],
  days: number,
  { onReload, onError }: Pick<CertificateEvents, 'onReload' | 'onError'>,
): Promise<CertificateSource> {
  const authority = await createAuthority({ commonName: 'cni-gate', days: 3650, now: new Date() });
  const issue = () => issueServing(authority, { names, days, now: new Date() });
  let current = await issue();
  const timer = setInterval(() => {
    if (!renewalDue(current.notBefore, current.notAfter, new Date())) return;
    issue().then((next) => {
      current = next;
      onReload(next);
    }, onError);
  }, renewalCheck).unref();
  return {
    get current() {
      return current;
    },
    authority: authority.certificate,
    close: () => clearInterval(timer),
  };
}
