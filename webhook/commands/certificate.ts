import { writeFileSync } from 'node:fs';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ConfigurationName } from '../../certs/objects.ts';
import type { ApiClient } from '../cluster/client.ts';
import { CniGateError, systemText } from '../lib/errors.ts';
import { installedService } from '../lib/names.ts';
import type { ServeOptions } from '../server/serve.ts';
import { milliseconds, usageError } from './options.ts';

/** The flags of `serve` that concern its certificate. */
export interface CertificateFlags {
  ownNamespace?: string;
  tlsCert?: string;
  tlsKey?: string;
  tlsDays?: number;
  tlsCaOut?: string;
  tlsSecret?: string;
  webhookConfigurations: ConfigurationName[];
  tlsOverlap: number;
}

/** Default validity in days of a certificate generated at start, which is not renewed. */
const selfMadeDays = 3650;

/** Default validity in days of a managed serving certificate: short, because it is renewed automatically. */
const managedDays = 7;

/** Adds the flags of managed certificates to `serve`. */
export function addManagedOptions(command: Command): Command {
  return command
    .addOption(new Option('--tls-secret <name>', "Secret with the replicas' authority").conflicts('tlsCert'))
    .addOption(
      new Option(
        '--webhook-configurations <kind/name...>',
        'webhook configurations whose caBundle to maintain, such as mutating/cni-gate',
      )
        .argParser(configurations)
        .default([], 'none'),
    )
    .addOption(
      new Option(
        '--tls-overlap <duration>',
        'how long every caBundle must have a new authority before it signs',
      )
        .argParser(milliseconds)
        .default(5 * 60_000, '5m'),
    );
}

/** @throws CniGateError CNI_GATE_USAGE if the flags cannot be combined */
export function checkCertificate(flags: CertificateFlags): void {
  if ((flags.tlsCert === undefined) !== (flags.tlsKey === undefined))
    throw usageError('--tls-cert and --tls-key go together');
  if (flags.tlsSecret === undefined) {
    if (flags.webhookConfigurations.length > 0)
      throw usageError('--webhook-configurations needs --tls-secret');
    return;
  }
  if (flags.ownNamespace === undefined)
    throw usageError('where is the Secret? --tls-secret needs --own-namespace, or $POD_NAMESPACE');
}

/** @param client the client of the cluster that has the Secret; undefined if the server needs no cluster */
export function certificateFor(
  flags: CertificateFlags,
  client: ApiClient | undefined,
): ServeOptions['certificate'] {
  const { tlsCert, tlsKey, tlsDays, tlsCaOut, tlsOverlap: overlap, tlsSecret: secret } = flags;
  const namespace = flags.ownNamespace ?? 'cni-gate';
  const service = installedService;
  const host = `${service}.${namespace}.svc`;
  // the names that the API server uses, and those that clients on the same machine use
  const names = [host, `${host}.cluster.local`, 'localhost', '127.0.0.1', '::1'];
  return async (events, deps) => {
    if (client && secret !== undefined) {
      const { managedCertificate } = await import('../../certs/managed.ts');
      const objects = { client, namespace, secret, service, configurations: flags.webhookConfigurations };
      const issue = { names, leafDays: tlsDays ?? managedDays, overlap };
      return managedCertificate({ ...objects, ...issue }, events, deps);
    }
    const { fileCertificate, selfMadeCertificate } = await import('../../certs/files.ts');
    if (tlsCert !== undefined && tlsKey !== undefined) return fileCertificate(tlsCert, tlsKey, events);
    const source = selfMadeCertificate(names, tlsDays ?? selfMadeDays);
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

/** Parses `mutating/NAME` and `validating/NAME`, separated by commas, for commander. */
function configurations(text: string, before: ConfigurationName[]): ConfigurationName[] {
  const named = text.split(',').map((name) => name.trim());
  if (!named.every((name) => /^(mutating|validating)\/[a-z0-9][a-z0-9.-]*$/.test(name)))
    throw new InvalidArgumentError('expected mutating/NAME or validating/NAME.');
  return [...before, ...(named as ConfigurationName[])];
}
