import { writeFileSync } from 'node:fs';
import type { ApiClient } from '../kubernetes/client.ts';
import { CniGateError, errnoOf, messageOf } from '../lib/errors.ts';
import type { ServeOptions } from '../server/serve.ts';
import { type ManagedFlags, managedDays, namesOf } from './managed.ts';

/** What the flags of `serve` say about its certificate. */
export interface CertificateFlags extends ManagedFlags {
  ownNamespace?: string;
  tlsCert?: string;
  tlsKey?: string;
  tlsNames?: string[];
  tlsDays?: number;
  tlsCaOut?: string;
}

/** Default validity in days of a certificate generated at start. */
const selfMadeDays = 90;

/**
 * Where the serving certificate comes from: files, a Secret that the replicas share, or made at start.
 *
 * @param client the cluster with the Secret
 */
export function certificateFor(
  flags: CertificateFlags,
  client: ApiClient | undefined,
): ServeOptions['certificate'] {
  const { tlsCert, tlsKey, tlsDays, tlsCaOut, tlsSecret: secret, tlsService: service } = flags;
  const namespace = flags.ownNamespace ?? 'cni-gate';
  const names = flags.tlsNames ?? namesOf(service, namespace);
  return async (events, deps) => {
    if (client && secret !== undefined) {
      const { managedCertificate } = await import('../../certs/managed.ts');
      const { tlsAuthorityDays: authorityDays, tlsOverlap: overlap } = flags;
      const objects = { client, namespace, secret, service, configurations: flags.webhookConfigurations };
      const issue = { names, leafDays: tlsDays ?? managedDays, authorityDays, overlap };
      return managedCertificate({ ...objects, ...issue }, events, deps);
    }
    const { fileCertificate, selfMadeCertificate } = await import('../../certs/sources.ts');
    if (tlsCert !== undefined && tlsKey !== undefined) return fileCertificate(tlsCert, tlsKey, events);
    const source = await selfMadeCertificate(names, tlsDays ?? selfMadeDays, events);
    if (tlsCaOut !== undefined) writeAuthority(tlsCaOut, source.authority ?? '');
    return source;
  };
}

function writeAuthority(file: string, pem: string): void {
  try {
    writeFileSync(file, pem);
  } catch (error) {
    const reason = errnoOf(error) ?? messageOf(error);
    throw new CniGateError('CNI_GATE_TLS_UNREADABLE', `cannot write ${file}: ${reason}`, { cause: error });
  }
}
