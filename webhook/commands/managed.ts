import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ConfigurationName } from '../../certs/api.ts';
import { CniGateError } from '../lib/errors.ts';
import { days, milliseconds } from './options.ts';

/** What the flags of managed certificates say. */
export interface ManagedFlags {
  tlsSecret?: string;
  tlsService: string;
  webhookConfigurations: ConfigurationName[];
  tlsAuthorityDays: number;
  tlsOverlap: number;
}

/** Default validity in days of a managed serving certificate: short, as nobody has to renew it. */
export const managedDays = 7;

/** Default validity in days of a managed authority. */
export const managedAuthorityDays = 365;

/** Adds the flags of managed certificates to `serve`. */
export function addManagedOptions(command: Command): Command {
  return command
    .option('--tls-secret <name>', "Secret in cni-gate's namespace with the replicas' authority")
    .option('--tls-service <name>', "Service in cni-gate's namespace that webhooks call", 'cni-gate')
    .addOption(
      new Option(
        '--webhook-configurations <kind/name...>',
        'whose caBundle to maintain, such as mutating/cni-gate (with --tls-secret)',
      )
        .argParser(configurations)
        .default([], 'none'),
    )
    .option(
      '--tls-authority-days <days>',
      'validity of the authority in the Secret',
      days,
      managedAuthorityDays,
    )
    .addOption(
      new Option('--tls-overlap <duration>', 'how long a new authority is trusted before it is used')
        .argParser(milliseconds)
        .default(5 * 60_000, '5m'),
    );
}

/** The names under which the API server and people on the same machine call the Service. */
export function namesOf(service: string, namespace: string): string[] {
  const name = `${service}.${namespace}.svc`;
  return [name, `${name}.cluster.local`, 'localhost', '127.0.0.1', '::1'];
}

/** @throws CniGateError CNI_GATE_USAGE where the flags do not go together */
export function checkManaged(
  flags: Partial<ManagedFlags> & {
    tlsCert?: string;
    tlsCaOut?: string;
    ownNamespace?: string;
    tlsDays?: number;
  },
): void {
  const usage = (message: string): CniGateError => new CniGateError('CNI_GATE_USAGE', message);
  if (flags.tlsSecret === undefined) {
    if (flags.webhookConfigurations?.length) throw usage('--webhook-configurations needs --tls-secret');
    return;
  }
  if (flags.tlsCert !== undefined) throw usage('--tls-secret and --tls-cert are two ways to one certificate');
  if (flags.tlsCaOut !== undefined) throw usage('--tls-ca-out is for a certificate made at start');
  if (flags.ownNamespace === undefined) {
    throw usage('where is the Secret? --tls-secret needs --own-namespace, or $POD_NAMESPACE');
  }
  if ((flags.tlsAuthorityDays ?? managedAuthorityDays) <= (flags.tlsDays ?? managedDays)) {
    throw usage('--tls-authority-days must be more than --tls-days: an authority outlives what it signs');
  }
}

/** `mutating/NAME` or `validating/NAME`, several of them by commas, for commander. */
function configurations(text: string, before: ConfigurationName[]): ConfigurationName[] {
  const named = text.split(',').map((each): ConfigurationName => {
    const [, kind, name] = /^(mutating|validating)\/([a-z0-9][a-z0-9.-]*)$/.exec(each.trim()) ?? [];
    if ((kind === 'mutating' || kind === 'validating') && name !== undefined) return { kind, name };
    throw new InvalidArgumentError('expected mutating/NAME or validating/NAME.');
  });
  return [...before, ...named];
}
