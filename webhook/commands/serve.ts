import { Command, Option } from 'commander';
import { defaultPort } from '../lib/names.ts';
import type { RunningServer, ServeOptions } from '../server/serve.ts';
import { type CertificateFlags, certificateFor, checkCertificate } from './certificate.ts';
import {
  addClusterOptions,
  type ClusterFlags,
  imageName,
  milliseconds,
  namespaceName,
  port,
  usageError,
} from './options.ts';

interface Flags extends CertificateFlags, ClusterFlags {
  config?: string;
  image?: string;
  clusterState?: string;
  profile?: string;
  host?: string;
  port: number;
  opsPort: number;
  drainDelay: number;
  drainTimeout: number;
  logLevel: string;
}

/** `cni-gate serve` runs the admission server. */
export function serveCommand(): Command {
  const command = new Command('serve')
    .description('run the admission server')
    .option('--config <file>', 'configuration, reloaded on change (default: built-in profiles)')
    .addOption(
      new Option('--image <image>', 'image of the init container, if not configured')
        .env('CNI_GATE_IMAGE')
        .argParser(imageName),
    );
  return addClusterOptions(command)
    .option(
      '--cluster-state <file>',
      'without a cluster: file with Namespaces, Nodes, DaemonSets and Pods, reloaded on change',
    )
    .option('--profile <profile>', 'without a cluster: profile of every namespace')
    .addOption(
      new Option('--own-namespace <name>', 'namespace of cni-gate, whose pods are exempt')
        .env('POD_NAMESPACE')
        .argParser(namespaceName),
    )
    .option('--host <address>', 'address to listen on (default: all)')
    .option('--port <port>', 'HTTPS port for admission calls; 0: any', port, defaultPort)
    .option('--ops-port <port>', 'HTTP port for /livez, /readyz, /metrics and /nodes', port, 8080)
    .option('--tls-cert <file>', 'serving certificate, reloaded on change')
    .option('--tls-key <file>', 'key of the serving certificate')
    .addOption(
      new Option('--tls-ca-out <file>', 'write the authority of a certificate generated at start').conflicts([
        'tlsCert',
        'tlsSecret',
      ]),
    )
    .addOption(
      new Option(
        '--tls-secret <name>',
        "Secret with the replicas' authority, whose certificate they write into the caBundle",
      ).conflicts('tlsCert'),
    )
    .addOption(
      new Option(
        '--tls-overlap <duration>',
        'how long every caBundle must have a new authority before it signs',
      )
        .argParser(milliseconds)
        .default(5 * 60_000, '5m'),
    )
    .addOption(
      new Option('--drain-delay <duration>', 'how long to keep serving after SIGTERM, while not ready')
        .argParser(milliseconds)
        .default(5000, '5s'),
    )
    .addOption(
      new Option('--drain-timeout <duration>', 'when to cut open connections after SIGTERM')
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
  const needsCluster = checkFlags(flags);
  // loaded here, because the other commands need no server
  const [{ openLog }, { serve }] = await Promise.all([
    import('../server/log.ts'),
    import('../server/serve.ts'),
  ]);
  const log = openLog(flags.logLevel);
  const { logLevel: _, kubeconfig: __, context: ___, ...rest } = flags;
  const cluster = needsCluster ? await openCluster(flags) : undefined;
  const certificate = certificateFor(flags, cluster?.client);
  const stopping = new AbortController();
  let server: RunningServer | undefined;
  const stop = (signal: string): void => {
    log.info({ signal }, 'received a signal, stopping');
    for (const name of signals) process.removeListener(name, stop);
    // with the handlers removed, a second signal ends the process immediately
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

/** Whether namespaces come from a cluster, instead of a file or a flag. */
const labelsFromCluster = ({ clusterState, profile }: Flags): boolean =>
  clusterState === undefined && profile === undefined;

/** Loads the modules of the cluster's client only when needed. @returns the client, and the server's view */
async function openCluster({ kubeconfig, context, ownNamespace }: Flags) {
  const [cluster, { watchCluster }] = await Promise.all([
    import('../cluster/open.ts'),
    import('../server/watch-cluster.ts'),
  ]);
  const client = await cluster.openCluster(kubeconfig, context);
  const view: ServeOptions['cluster'] = (policy, deps) => watchCluster(client, policy, deps, ownNamespace);
  return { client, view };
}

/** Checks combinations of flags. @returns whether a cluster is needed @throws CniGateError CNI_GATE_USAGE */
function checkFlags(flags: Flags): boolean {
  const needsCluster = labelsFromCluster(flags) || flags.tlsSecret !== undefined;
  for (const flag of ['kubeconfig', 'context'] as const) {
    if (flags[flag] !== undefined && !needsCluster)
      throw usageError(`--${flag} names a cluster, but --cluster-state or --profile replaces the cluster`);
  }
  checkCertificate(flags);
  if (flags.drainTimeout < flags.drainDelay)
    throw usageError('--drain-timeout is shorter than --drain-delay');
  return needsCluster;
}
