import { randomBytes } from 'node:crypto';
import { lstatSync, rmSync, writeFileSync } from 'node:fs';
import { Command } from 'commander';
import type { ApiClient } from '../cluster/client.ts';
import { readPolicy } from '../config/load.ts';
import { CniGateError, messageOf } from '../lib/errors.ts';
import type { Dashboard } from '../report/dashboard/server.ts';
import type { CollectOptions } from '../report/facts/collect.ts';
import type { StatusFacts } from '../report/facts/model.ts';
import type { ReadinessHistory } from '../report/facts/readiness-history.ts';
import {
  addClusterOptions,
  addInstallationOptions,
  type ClusterFlags,
  namespaceName,
  port,
} from './options.ts';

interface Flags extends ClusterFlags {
  namespace?: string;
  config?: string;
  ownNamespace: string;
  port?: number;
  out?: string;
}

const more = `
It listens on 127.0.0.1 alone, and installs nothing in the cluster. Who has the
printed address sees what your kubeconfig may read. Ctrl-C ends it.

Exit code: 0 ended, or the file is written; 2 wrong usage, no answer from the
cluster, or a missing right.`;

/** `cni-gate dashboard`: the status of a cluster as a local page, or as a file. */
export function dashboardCommand(): Command {
  const command = new Command('dashboard').description(
    'show the status of all nodes and pods on a local page, which follows the cluster',
  );
  command.addHelpText('after', more);
  return addInstallationOptions(
    addClusterOptions(command, 'the service account of the pod, $KUBECONFIG, ~/.kube/config'),
  )
    .option('-n, --namespace <name>', 'only this opted-in namespace', namespaceName)
    .option('--port <port>', 'port on 127.0.0.1 (default: a free one)', port)
    .option('--out <file>', 'write the page with the current data to this file, and end')
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  if (flags.out !== undefined && flags.port !== undefined)
    throw new CniGateError('CNI_GATE_USAGE', '--out writes a file, and --port serves: give one of the two');
  // loaded here: the other commands need none of it
  const [{ openCluster }, { readStatus }, { ReadinessHistory }, { withRoleNamed }, { statusOf }] =
    await Promise.all([
      import('../cluster/open.ts'),
      import('../report/facts/collect.ts'),
      import('../report/facts/readiness-history.ts'),
      import('../report/facts/role.ts'),
      import('../report/status/compose.ts'),
    ]);
  const { config, ownNamespace, namespace } = flags;
  const given = config === undefined ? undefined : { policy: readPolicy(config), source: config };
  const options = { ownNamespace, given, namespace, probe: false };
  const client = await openCluster(flags.kubeconfig, flags.context);
  try {
    const history = new ReadinessHistory();
    const show: Show = (facts, stale) => ({ ...statusOf(facts, { now: Date.now(), all: true }), stale });
    const first = await readStatus(client, options, history);
    if (flags.out !== undefined) await write(flags.out, show(first, null));
    else await serve({ client, options, history, first, show }, flags.port ?? 0);
  } catch (error) {
    throw withRoleNamed(error);
  } finally {
    client.close();
  }
}

type Show = (facts: StatusFacts, stale: string | null) => Dashboard;

/**
 * Writes the page as one file that only its owner may read: it shows what a kubeconfig may read.
 *
 * @throws CniGateError CNI_GATE_OUTPUT
 */
async function write(file: string, dashboard: Dashboard): Promise<void> {
  const { readPage } = await import('../report/dashboard/page.ts');
  const { html } = readPage(dashboard);
  const there = lstatSync(file, { throwIfNoEntry: false });
  // it is replaced: a link such as /dev/stdout would be gone for everybody
  if (there !== undefined && !there.isFile())
    throw new CniGateError('CNI_GATE_OUTPUT', `cannot write ${file}: it exists and is not a regular file`);
  try {
    // an older file may be readable for others
    rmSync(file, { force: true });
    writeFileSync(file, html, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new CniGateError('CNI_GATE_OUTPUT', `cannot write ${file}: ${messageOf(error)}`, { cause: error });
  }
  process.stdout.write(`wrote ${file}\n`);
}

/** What the served page follows. */
interface Followed {
  client: ApiClient;
  options: CollectOptions;
  history: ReadinessHistory;
  first: StatusFacts;
  show: Show;
}

/** Serves the page until the process is asked to end. @throws CniGateError CNI_GATE_LISTEN */
async function serve({ client, options, history, first, show }: Followed, atPort: number): Promise<void> {
  const [{ pollStatus, untilAsked }, { roleFor }, { dashboardServer }, { readPage }, { listen }] =
    await Promise.all([
      import('../report/facts/poll.ts'),
      import('../report/facts/role.ts'),
      import('../report/dashboard/server.ts'),
      import('../report/dashboard/page.ts'),
      import('../server/listen.ts'),
    ]);
  let dashboard = show(first, null);
  const onFacts = (facts: StatusFacts): void => {
    dashboard = show(facts, null);
  };
  const onTrouble = (error: CniGateError): void => {
    const stale = `${error.message}${roleFor(error)}`;
    dashboard = { ...dashboard, stale };
    process.stderr.write(`cni-gate: ${stale}\n`);
  };
  const token = randomBytes(24).toString('base64url');
  const app = dashboardServer({ page: readPage(), token, latest: () => dashboard });
  try {
    const stop = untilAsked();
    const opened = await listen(app, '127.0.0.1', atPort, '--port');
    process.stdout.write(`http://127.0.0.1:${opened}/#token=${token}\n`);
    await pollStatus(client, options, history, { onFacts, onTrouble }, stop.signal);
  } finally {
    await app.close();
  }
}
