import { writeFileSync } from 'node:fs';
import { Command, Option } from 'commander';
import { CniGateError, errnoOf, messageOf } from '../errors.ts';
import type { ServeOptions } from '../server/serve.ts';
import { days, milliseconds, port } from './options.ts';

interface Flags {
  config?: string;
  clusterState?: string;
  profile?: string;
  kubeconfig?: string;
  ownNamespace?: string;
  host?: string;
  port: number;
  opsPort: number;
  tlsCert?: string;
  tlsKey?: string;
  tlsNames: string[];
  tlsDays: number;
  tlsCaOut?: string;
  drainDelay: number;
  drainTimeout: number;
  logLevel: string;
}

/** What the API server calls a Service by, and what a person on the same machine calls. */
const defaultNames = [
  'cni-gate.cni-gate.svc',
  'cni-gate.cni-gate.svc.cluster.local',
  'localhost',
  '127.0.0.1',
  '::1',
];

/** `cni-gate serve`: the admission server. */
export function serveCommand(): Command {
  return new Command('serve')
    .description('run the admission server')
    .option('--config <file>', 'configuration, reloaded when it changes (default: built-in profiles)')
    .addOption(
      new Option(
        '--kubeconfig <file>',
        'how to reach the cluster whose Namespaces give the opt-in labels (default: the service account of the pod, $KUBECONFIG, ~/.kube/config)',
      ).conflicts(['clusterState', 'profile']),
    )
    .option('--cluster-state <file>', 'no cluster: Kubernetes objects to take the Namespaces from, reloaded')
    .option('--profile <profile>', 'no cluster needed: profile of every namespace, in place of its label')
    .addOption(
      new Option('--own-namespace <name>', 'namespace of cni-gate itself, whose pods are left alone').env(
        'POD_NAMESPACE',
      ),
    )
    .option('--host <address>', 'address to listen on (default: all)')
    .option('--port <port>', 'port for admission calls (HTTPS)', port, 8443)
    .option('--ops-port <port>', 'port for /livez, /readyz and /metrics (plain HTTP)', port, 8080)
    .option('--tls-cert <file>', 'serving certificate, reloaded when it changes; with --tls-key')
    .option('--tls-key <file>', 'key of the serving certificate')
    .option('--tls-names <name...>', 'names of a certificate made at start', defaultNames)
    .option('--tls-days <days>', 'validity of a certificate made at start', days, 90)
    .option('--tls-ca-out <file>', 'write the authority of a certificate made at start, for the caBundle')
    .addOption(
      new Option('--drain-delay <duration>', 'how long to go on serving once told to stop')
        .argParser(milliseconds)
        .default(5000, '5s'),
    )
    .addOption(
      new Option('--drain-timeout <duration>', 'when to cut what is still open then')
        .argParser(milliseconds)
        .default(25_000, '25s'),
    )
    .addOption(
      new Option('--log-level <level>', 'least level to log')
        .choices(['trace', 'debug', 'info', 'warn', 'error', 'fatal'])
        .default('info'),
    )
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  checkFlags(flags);
  // loaded here: the other commands need no server
  const [{ pino }, { serve }, { fileCertificate, selfMadeCertificate }] = await Promise.all([
    import('pino'),
    import('../server/serve.ts'),
    import('../server/tls.ts'),
  ]);
  const log = pino({ level: flags.logLevel });
  const { tlsCert, tlsKey, tlsNames, tlsDays, tlsCaOut, logLevel: _, kubeconfig, ...rest } = flags;
  const cluster = clusterNeeded(flags) ? await openCluster(kubeconfig) : undefined;
  const server = await serve({
    ...rest,
    log,
    namespaces: cluster?.namespaces,
    certificate: async (events) => {
      if (tlsCert !== undefined && tlsKey !== undefined) return fileCertificate(tlsCert, tlsKey, events);
      const source = await selfMadeCertificate(tlsNames, tlsDays, events);
      if (tlsCaOut !== undefined) writeAuthority(tlsCaOut, source.authority ?? '');
      return source;
    },
  });
  const stop = (signal: string): void => {
    log.info({ signal }, 'told to stop');
    for (const name of signals) process.removeListener(name, stop);
    // a second signal ends the process at once, as it would have without this
    void server.drain();
  };
  for (const name of signals) process.on(name, stop);
}

const signals = ['SIGTERM', 'SIGINT'];

/** Whether namespaces come from the cluster: neither a file nor a flag stands for them. */
const clusterNeeded = ({ clusterState, profile }: Flags): boolean =>
  clusterState === undefined && profile === undefined;

/** The cluster, whose code is loaded only here, and what the server takes from it. */
async function openCluster(kubeconfig: string | undefined) {
  const [cluster, { watchNamespaces }] = await Promise.all([
    import('../cluster/open.ts'),
    import('../cluster/namespaces/watch.ts'),
  ]);
  const client = await cluster.openCluster(kubeconfig);
  const namespaces: ServeOptions['namespaces'] = (inside) => watchNamespaces(client, inside);
  return { client, namespaces };
}

function checkFlags(flags: Flags): void {
  const usage = (message: string): CniGateError => new CniGateError('CNI_GATE_USAGE', message);
  if ((flags.tlsCert === undefined) !== (flags.tlsKey === undefined)) {
    throw usage('--tls-cert and --tls-key go together');
  }
  if (flags.tlsCert !== undefined && flags.tlsCaOut !== undefined) {
    throw usage('--tls-ca-out is for a certificate made at start, not for one in files');
  }
  if (flags.drainTimeout < flags.drainDelay) throw usage('--drain-timeout is shorter than --drain-delay');
}

function writeAuthority(file: string, pem: string): void {
  try {
    writeFileSync(file, pem);
  } catch (error) {
    const reason = errnoOf(error) ?? messageOf(error);
    throw new CniGateError('CNI_GATE_TLS_UNREADABLE', `cannot write ${file}: ${reason}`, { cause: error });
  }
}
