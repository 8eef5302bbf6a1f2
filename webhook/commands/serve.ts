import { Command, Option } from 'commander';
import { CniGateError } from '../lib/errors.ts';
import { defaultPort } from '../lib/names.ts';
import type { RunningServer, ServeOptions } from '../server/serve.ts';
import { type CertificateFlags, certificateFor } from './certificate.ts';
import { addManagedOptions, checkManaged } from './managed.ts';
import { addClusterOptions, type ClusterFlags, days, milliseconds, namespaceName, port } from './options.ts';

interface Flags extends CertificateFlags, ClusterFlags {
  config?: string;
  image?: string;
  clusterState?: string;
  profile?: string;
  host?: string;
  port: number;
  opsPort: number;
  clientCa?: string;
  clientName?: string[];
  drainDelay: number;
  drainTimeout: number;
  logLevel: string;
}

/** `cni-gate serve`: the admission server. */
export function serveCommand(): Command {
  const command = new Command('serve')
    .description('run the admission server')
    .option('--config <file>', 'configuration, reloaded when it changes (default: built-in profiles)')
    .addOption(
      new Option('--image <image>', 'image of the validator if the configuration names none').env(
        'CNI_GATE_IMAGE',
      ),
    );
  addClusterOptions(command, 'the service account of the pod, $KUBECONFIG, ~/.kube/config')
    .option(
      '--cluster-state <file>',
      'no cluster: Kubernetes objects that stand for it, reloaded when they change',
    )
    .option('--profile <profile>', 'no cluster needed: profile of every namespace, instead of its label')
    .addOption(
      new Option('--own-namespace <name>', 'namespace of cni-gate itself, whose pods are exempt')
        .env('POD_NAMESPACE')
        .argParser(namespaceName),
    )
    .option('--host <address>', 'address to listen on (default: all)')
    .option('--port <port>', 'port for admission calls (HTTPS)', port, defaultPort)
    .option('--ops-port <port>', 'port for /livez, /readyz and /metrics (plain HTTP)', port, 8080)
    .option('--tls-cert <file>', 'serving certificate, reloaded when it changes; with --tls-key')
    .option('--tls-key <file>', 'key of the serving certificate')
    .option('--tls-names <name...>', 'names of a generated certificate (default: those of the Service)')
    .option(
      '--tls-days <days>',
      'validity of a generated certificate (default: 7 in a Secret, 90 generated at start)',
      days,
    )
    .option(
      '--tls-ca-out <file>',
      'write the authority of a certificate generated at start, for the caBundle',
    );
  return addManagedOptions(command)
    .option(
      '--client-ca <file>',
      'authorities of client certificates that callers must present, reloaded when it changes',
    )
    .option(
      '--client-name <name...>',
      'accepted common names or DNS names of client certificates (default: any)',
    )
    .addOption(
      new Option('--drain-delay <duration>', 'how long to keep serving after SIGTERM')
        .argParser(milliseconds)
        .default(5000, '5s'),
    )
    .addOption(
      new Option('--drain-timeout <duration>', 'when to cut connections that are still open after SIGTERM')
        .argParser(milliseconds)
        .default(25_000, '25s'),
    )
    .addOption(
      new Option('--log-level <level>', 'lowest level to log')
        .choices(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
        .default('info'),
    )
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  checkFlags(flags);
  // loaded here, because the other commands need no server
  const [{ openLog }, { serve }] = await Promise.all([
    import('../server/log.ts'),
    import('../server/serve.ts'),
  ]);
  const log = openLog(flags.logLevel);
  const { logLevel: _, kubeconfig, context, ...rest } = flags;
  const cluster = clusterNeeded(flags)
    ? await openCluster({ kubeconfig, context }, flags.ownNamespace)
    : undefined;
  const certificate = certificateFor(flags, cluster?.client);
  const stopping = new AbortController();
  let server: RunningServer | undefined;
  const stop = (signal: string): void => {
    log.info({ signal }, 'received a signal, stopping');
    for (const name of signals) process.removeListener(name, stop);
    // without a handler, a second signal ends the process at once
    stopping.abort();
    void server?.drain();
  };
  for (const name of signals) process.on(name, stop);
  try {
    const view = labelsFromCluster(flags) ? cluster?.view : undefined;
    server = await serve({ ...rest, log, cluster: view, certificate, signal: stopping.signal });
  } catch (error) {
    if (!stopping.signal.aborted) throw error;
    return;
  }
  if (stopping.signal.aborted) await server.drain();
}

const signals = ['SIGTERM', 'SIGINT'];

/** Whether namespaces come from a cluster, and not from a file or a flag. */
const labelsFromCluster = ({ clusterState, profile }: Flags): boolean =>
  clusterState === undefined && profile === undefined;

/** Whether the server needs a cluster at all. */
const clusterNeeded = (flags: Flags): boolean => labelsFromCluster(flags) || flags.tlsSecret !== undefined;

/** Opens the cluster, whose code is loaded only here. @returns its client, and the view for the server */
async function openCluster(
  { kubeconfig, context }: { kubeconfig: string | undefined; context: string | undefined },
  ownNamespace: string | undefined,
) {
  const [cluster, { watchCluster }] = await Promise.all([
    import('../kubernetes/open.ts'),
    import('../view/from-cluster.ts'),
  ]);
  const client = await cluster.openCluster(kubeconfig, context);
  const view: ServeOptions['cluster'] = (policy, deps) => watchCluster(client, policy, deps, ownNamespace);
  return { client, view };
}

function checkFlags(flags: Flags): void {
  const usage = (message: string): CniGateError => new CniGateError('CNI_GATE_USAGE', message);
  if ((flags.tlsCert === undefined) !== (flags.tlsKey === undefined)) {
    throw usage('--tls-cert and --tls-key go together');
  }
  if (flags.tlsCert !== undefined && flags.tlsCaOut !== undefined) {
    throw usage('--tls-ca-out is for a certificate made at start, not for one in files');
  }
  for (const flag of ['kubeconfig', 'context'] as const) {
    if (flags[flag] === undefined || clusterNeeded(flags)) continue;
    throw usage(
      `--${flag} is for a cluster, and nothing here comes from one: see --cluster-state and --profile`,
    );
  }
  if (flags.clientName !== undefined && flags.clientCa === undefined)
    throw usage('--client-name needs --client-ca');
  checkManaged(flags);
  if (flags.drainTimeout < flags.drainDelay) throw usage('--drain-timeout is shorter than --drain-delay');
}
