import { CniGateError } from '../webhook/lib/errors.ts';
import { LiveFiles, type ReloadListener } from '../webhook/lib/live-files.ts';
import { createAuthority, issueServing } from './issue.ts';
import { checkPair, readCertificates } from './verify.ts';

/** A serving certificate (a chain, the leaf first) and its key, in PEM. */
export interface CertificatePair {
  certificate: string;
  key: string;
  notAfter: Date;
}

export interface CertificateSource {
  readonly current: CertificatePair;
  /** Set by {@link selfMadeCertificate}: the authority's certificate in PEM, for the caBundle. */
  readonly authority?: string;
  close(): void | Promise<void>;
}

/** `onReload` is called when the server starts to use a new certificate, `onError` when a new one is unusable. */
export interface CertificateEvents extends ReloadListener {
  /** Adds a check to `/readyz`. The check returns why no certificate is valid; undefined if a certificate is valid. */
  addReadyCheck: (check: () => string | undefined) => void;
}

/**
 * A certificate and key in files, which are read again when they change. While only one of the files has changed, the
 * last matching pair is served.
 * @throws CniGateError if the first pair cannot be used
 */
export function fileCertificate(
  certificateFile: string,
  keyFile: string,
  listener: ReloadListener,
): CertificateSource {
  const files = new LiveFiles<CertificatePair>({
    ...listener,
    paths: [certificateFile, keyFile],
    unreadable: 'CNI_GATE_TLS_UNREADABLE',
    parse: ([certificate = '', key = '']) => {
      const { notAfter } = checkPair(certificate, key, new Date());
      const [leaf] = readCertificates(certificate);
      if (leaf.subjectAltName !== undefined) return { certificate, key, notAfter };
      const message = `${certificateFile} has no subjectAltName: the API server, like every program in Go, ignores the common name`;
      throw new CniGateError('CNI_GATE_TLS_PAIR', message);
    },
  });
  return {
    get current() {
      return files.value;
    },
    close: () => files.close(),
  };
}

/** A certificate signed by an authority whose key only this process has. The certificate is not renewed. */
export function selfMadeCertificate(names: string[], days: number): CertificateSource {
  const now = new Date();
  const authority = createAuthority({ days, now });
  const current = issueServing(authority, { names, days, now });
  return { current, authority: authority.certificate, close: () => {} };
}
