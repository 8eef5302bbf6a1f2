import type { SecureContextOptions } from 'node:tls';
import type { CertificatePair } from '../../certs/sources.ts';

export type {
  CertificateEvents,
  CertificatePair,
  CertificateSource,
} from '../../certs/sources.ts';

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
