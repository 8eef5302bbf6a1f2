import { writeFileSync } from 'node:fs';
import type { ApiClient } from '../cluster/client.ts';
import { CniGateError, systemText } from '../lib/errors.ts';
import { installedService } from '../lib/names.ts';
import type { ServeOptions } from '../server/serve.ts';
import { usageError } from './options.ts';

/** The flags of `serve` that concern its certificate. */
export interface CertificateFlags {
  ownNamespace?: string;
  tlsCert?: string;
  tlsKey?: string;
  tlsCaOut?: string;
  tlsSecret?: string;
  tlsOverlap: number;
}

/** How many days a certificate that is generated at start is valid. It is never renewed. */
const selfMadeDays = 3650;

/** @throws CniGateError CNI_GATE_USAGE if the flags cannot be combined */
export function checkCertificate(flags: CertificateFlags): void {
  if ((flags.tlsCert === undefined) !== (flags.tlsKey === undefined))
    throw usageError('--tls-cert and --tls-key go together');
  if (flags.tlsSecret !== undefined && flags.ownNamespace === undefined)
    throw usageError('where is the Secret? --tls-secret needs --own-namespace, or $POD_NAMESPACE');
}

/** @param client the client of the cluster that has the Secret; undefined if the server needs no cluster */
export function certificateFor(
  flags: CertificateFlags,
  client: ApiClient | undefined,
): ServeOptions['certificate'] {
  const { tlsCert, tlsKey, tlsCaOut, tlsOverlap: overlap, tlsSecret: secret } = flags;
  const namespace = flags.ownNamespace ?? 'cni-gate';
  const host = `${installedService}.${namespace}.svc`;
  // the names that the API server uses, and those that clients on the same machine use
  const names = [host, `${host}.cluster.local`, 'localhost', '127.0.0.1', '::1'];
  return async (events, deps) => {
    if (client && secret !== undefined) {
      const { managedCertificate } = await import('../../certs/managed.ts');
      return managedCertificate({ client, namespace, secret, names, overlap }, events, deps);
    }
    const { fileCertificate, selfMadeCertificate } = await import('../../certs/files.ts');
    if (tlsCert !== undefined && tlsKey !== undefined) return fileCertificate(tlsCert, tlsKey, events);
    const source = selfMadeCertificate(names, selfMadeDays);
    if (tlsCaOut !== undefined) writeAuthority(tlsCaOut, source.authority ?? '');
    return source;
  };
}

function writeAuthority(file: string, pem: string): void {
  try {
    writeFileSync(file, pem);
  } catch (error) {
    const message = `cannot write ${file}: ${systemText(error)}`;
    throw new CniGateError('CNI_GATE_TLS_UNREADABLE', message, { cause: error });
  }
}
