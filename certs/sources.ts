import type { Registry } from 'prom-client';
import { CniGateError } from '../webhook/lib/errors.ts';
import { LiveFiles } from '../webhook/lib/live-files.ts';
import { createAuthority, issueServing } from './issue.ts';
import { checkPair } from './pair.ts';
import { renewalDue } from './period.ts';

/** A serving certificate (a chain, the leaf first) and its key, in PEM. */
export interface CertificatePair {
  certificate: string;
  key: string;
  notAfter: Date;
}

/** Where the serving certificate comes from. */
export interface CertificateSource {
  readonly current: CertificatePair;
  /** PEM of the authority that a webhook configuration's caBundle must contain; unknown for files. */
  readonly authority?: string;
  /** Why no calls should come here, or undefined when they may. */
  unready?(): string | undefined;
  close(): void | Promise<void>;
}

/** Listeners for a new certificate, and for one that cannot be used. */
export interface CertificateEvents {
  onReload: (pair: CertificatePair) => void;
  onError: (error: unknown) => void;
}

/** The log, as far as certificates write to it. */
export interface Log {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

/** What a server gives to the source of its certificate. */
export interface CertificateInside {
  registry: Registry;
  log: Log;
  /** Aborted when the server has to stop before it has a certificate. */
  signal: AbortSignal;
  /** Takes over who says why there is no certificate yet. */
  waitingFor(why: () => string | undefined): void;
}

/**
 * A certificate and key in files, which are read again when they change. A pair that does not match, as while one of
 * two files is written, is never served.
 *
 * @throws CniGateError when the pair cannot be used at the start
 */
export function fileCertificate(
  certificateFile: string,
  keyFile: string,
  events: CertificateEvents,
  interval?: number,
): CertificateSource {
  const files = new LiveFiles<CertificatePair>({
    ...events,
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

/** Milliseconds between two checks of the clock; a longer timer would not notice that the machine slept. */
const renewalCheck = 60_000;

/**
 * A certificate from an authority that lives as long as this process, renewed at two thirds of its life.
 *
 * @param names DNS names and addresses that the server is called by
 * @param days validity of the serving certificate
 */
export async function selfMadeCertificate(
  names: string[],
  days: number,
  events: CertificateEvents,
): Promise<CertificateSource> {
  const authority = createAuthority({ days: 3650, now: new Date() });
  const issue = () => issueServing(authority, { names, days, now: new Date() });
  let current = issue();
  const timer = setInterval(() => {
    if (!renewalDue(current, new Date())) return;
    try {
      current = issue();
    } catch (error) {
      events.onError(error);
      return;
    }
    events.onReload(current);
  }, renewalCheck).unref();
  return {
    get current() {
      return current;
    },
    authority: authority.certificate,
    close: () => clearInterval(timer),
  };
}
