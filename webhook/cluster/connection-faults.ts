import { X509Certificate } from 'node:crypto';
import type { ErrorCode } from '../lib/errors.ts';
import { timeText } from '../lib/time-text.ts';
import type { Connection } from './access.ts';

/** Errors of the network. Source: https://nodejs.org/api/errors.html#common-system-errors */
const network: Record<string, string> = {
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'it closed the connection',
  EHOSTUNREACH: 'this machine has no way to that address: is a VPN or a firewall between them?',
  ENETUNREACH: 'this machine has no way to that network: is a VPN off?',
  ETIMEDOUT: 'no connection in time: is a VPN off, or a firewall between them?',
  ENOTFOUND: 'its name has no address: is the name right, and a VPN on?',
  EAI_AGAIN: 'its name cannot be resolved: DNS does not answer',
  EPROTO: 'it does not speak TLS there',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS there',
};

const anotherAuthority =
  'its certificate is not signed by the certificate-authority that is configured: is that of another cluster, or does a proxy answer?';

/** Errors about the server's certificate. Source: https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const trust: Record<string, string> = {
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: anotherAuthority,
  UNABLE_TO_GET_ISSUER_CERT: anotherAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: anotherAuthority,
  SELF_SIGNED_CERT_IN_CHAIN: anotherAuthority,
  DEPTH_ZERO_SELF_SIGNED_CERT: anotherAuthority,
  CERT_SIGNATURE_FAILURE: anotherAuthority,
  CERT_UNTRUSTED: anotherAuthority,
  CERT_HAS_EXPIRED: 'its certificate has expired: renew it, or correct the clock of this machine',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet: correct the clock of this machine',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'its certificate is for other names: set server or tls-server-name in the kubeconfig to one of them',
};

/**
 * What an error of a connection means, in a sentence of ours with Node's code.
 *
 * @returns undefined for an error that is not about the connection
 */
export function connectionFault(error: unknown): { code: ErrorCode; why: string } | undefined {
  const errno = error instanceof Error && 'code' in error ? String(error.code) : '';
  const found = (code: ErrorCode, why: string) => ({ code, why: `${why} (${errno})` });
  const [unreachable, untrusted] = [network[errno], trust[errno]];
  if (unreachable !== undefined) return found('CNI_GATE_CLUSTER_UNREACHABLE', unreachable);
  if (untrusted !== undefined) return found('CNI_GATE_CLUSTER_UNTRUSTED', untrusted);
  if (errno.startsWith('ERR_OSSL_'))
    return found(
      'CNI_GATE_CLUSTER_CONFIG',
      'the certificates or the key for it are damaged, or not of one pair',
    );
  return undefined;
}

/**
 * Why the API server does not know who asks, as far as the credentials show it.
 *
 * @param source where they are from
 * @param now our clock
 */
export function credentialFault({ headers, tls }: Connection, source: string, now: Date): string {
  const hasHeader = Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');
  if (hasHeader)
    return `the token or password in ${source} has expired, or is of another cluster: log in again`;
  const [from, to] = periodOf(tls.cert) ?? [];
  if (from === undefined || to === undefined) return `${source} has no credentials for this cluster`;
  const certificate = `the client certificate in ${source}`;
  if (to < now.getTime()) return `${certificate} expired at ${timeText(to)}: renew it, or log in again`;
  if (from > now.getTime())
    return `${certificate} is valid from ${timeText(from)} only: correct the clock of this machine`;
  return `${certificate} is signed by no authority that the API server knows: is it of another cluster?`;
}

/** From when to when a certificate is valid, in milliseconds; undefined for one that cannot be read. */
function periodOf(cert: Connection['tls']['cert']): [from: number, to: number] | undefined {
  if (typeof cert !== 'string' && !Buffer.isBuffer(cert)) return undefined;
  try {
    const { validFrom, validTo } = new X509Certificate(cert);
    return [Date.parse(validFrom), Date.parse(validTo)];
  } catch {
    return undefined;
  }
}
