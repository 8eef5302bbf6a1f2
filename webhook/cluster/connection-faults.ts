import type { ErrorCode } from '../lib/errors.ts';

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

/** Errors about the server's certificate. Source: https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const trust: Record<string, string> = {
  CERT_HAS_EXPIRED: 'its certificate has expired: renew it, or correct the clock of this machine',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet: correct the clock of this machine',
  ERR_TLS_CERT_ALTNAME_INVALID:
    'its certificate is for other names: set server or tls-server-name in the kubeconfig to one of them',
};

/** The other errors about it. */
const isUntrusted = /^(?:UNABLE_TO|SELF_SIGNED|DEPTH_ZERO|CERT)_/;
const notSigned =
  'its certificate is not signed by the certificate-authority that is configured: is that of another cluster, or does a proxy answer?';

/**
 * What an error of a connection means, in a sentence of ours with Node's code.
 *
 * @returns undefined for an error that is not about the connection
 */
export function connectionFault(error: unknown): { code: ErrorCode; why: string } | undefined {
  const errno = error instanceof Error && 'code' in error ? String(error.code) : '';
  const found = (code: ErrorCode, why: string) => ({ code, why: `${why} (${errno})` });
  const unreachable = network[errno];
  const untrusted = trust[errno] ?? (isUntrusted.test(errno) ? notSigned : undefined);
  if (unreachable !== undefined) return found('CNI_GATE_CLUSTER_UNREACHABLE', unreachable);
  if (untrusted !== undefined) return found('CNI_GATE_CLUSTER_UNTRUSTED', untrusted);
  if (errno.startsWith('ERR_OSSL_'))
    return found(
      'CNI_GATE_CLUSTER_CONFIG',
      'the certificates or the key for it are damaged, or not of one pair',
    );
  return undefined;
}
