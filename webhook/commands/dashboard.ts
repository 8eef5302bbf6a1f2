import { randomBytes } from 'node:crypto';
import { lstatSync, rmSync, writeFileSync } from 'node:fs';
import { Command } from 'commander';
import { readPolicy } from '../config/file.ts';
import type { Dashboard } from '../dashboard/model.ts';
import type { ApiClient } from '../kubernetes/client.ts';
import type { Log } from '../lib/deps.ts';
import { CniGateError, messageOf } from '../lib/errors.ts';
import { dashboardLimits } from '../lib/limits.ts';
import type { FoundPolicy } from '../status/collect/configuration.ts';
import type { StatusFacts } from '../status/facts.ts';
import { addWrappedHelp } from './help-text.ts';
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
  groupLabel?: string;
  port?: number;
  out?: string;
}

const more = `It listens on 127.0.0.1 alone, and installs nothing in the cluster. Who has the printed address sees what your kubeconfig may read. Ctrl-C ends it.

Exit code: 0 ended, or the file is written; 2 wrong usage, no answer from the cluster, or a missing right.`;

/** `cni-gate dashboard`: the status of a cluster as a local page, or as a file. */
export function dashboardCommand(): Command {
  const command = new Command('dashboard').description(
    'show the status of all nodes and pods on a local page, which follows the cluster',
  );
  addWrappedHelp(command, more);
  return addInstallationOptions(
    addClusterOptions(command, 'the service account of the pod, $KUBECONFIG, ~/.kube/config'),
  )
    .option('-n, --namespace <name>', 'only this opted-in namespace', namespaceName)
    .option('--group-label <label>', 'label of nodes that names their group (default: those of clouds)')
    .option('--port <port>', 'port on 127.0.0.1 (default: a free one)', port)
    .option('--out <file>', 'write the page with the data of now to this file, and end')
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  if (flags.out !== undefined && flags.port !== undefined)
    throw new CniGateError('CNI_GATE_USAGE', '--out writes a file, and --port serves: give one of the two');
  // loaded here: the other commands need none of it
  const [{ openCluster }, { listStatus }, { usablePolicy }, { withRoleNamed }] = await Promise.all([
    import('../kubernetes/open.ts'),
    import('../status/collect/list.ts'),
    import('../status/collect/configuration.ts'),
    import('../status/collect/role.ts'),
  ]);
  const { config, ownNamespace, namespace } = flags;
  const given: FoundPolicy | undefined =
    config === undefined ? undefined : { policy: readPolicy(config), source: config };
  const client = await openCluster(flags.kubeconfig, flags.context);
  try {
    const found = given ?? (await usablePolicy(client, ownNamespace));
    const wanted = { policy: found.policy, ownNamespace, namespace };
    const first = await listStatus(client, wanted);
    const show = await shownBy(client, flags, found, first);
    if (flags.out === undefined) await serve(client, wanted, first, show, flags.port ?? 0);
    else await write(flags.out, show(first, null));
  } catch (error) {
    throw withRoleNamed(error);
  } finally {
    client.close();
  }
}

type Show = (facts: StatusFacts, stale: string | null) => Dashboard;

/** Returns the function that makes the dashboard of what is known, and remembers what proofs and repair did. */
async function shownBy(
  client: ApiClient,
  { namespace, groupLabel }: Flags,
  { source, trouble }: FoundPolicy,
  first: StatusFacts,
): Promise<Show> {
  const [{ statusOf }, { dashboardOf }, { History }, { repairEvents }, { ClusterReader }] = await Promise.all(
    [
      import('../status/compose.ts'),
      import('../dashboard/compose.ts'),
      import('../dashboard/history.ts'),
      import('../status/collect/pod-events.ts'),
      import('../status/collect/reader.ts'),
    ],
  );
  const reader = new ClusterReader(client, new AbortController().signal);
  const failed = [...first.pods].filter(({ proof }) => proof === 'failed');
  const history = new History();
  history.begin(await repairEvents(reader, first.namespaces), failed);
  return (facts, stale) => {
    const now = Date.now();
    const known = { ...facts, pods: [...facts.pods] };
    const status = statusOf(known, { client, configuration: source, trouble, now, all: true, namespace });
    history.observe(known.pods, status.failedPods, now);
    return dashboardOf(status, facts.readiness.nodes(), history, { groupLabel, stale });
  };
}

/**
 * Writes the page as one file that only its owner may read: it shows what a kubeconfig may read.
 *
 * @throws CniGateError CNI_GATE_OUTPUT
 */
async function write(file: string, dashboard: Dashboard): Promise<void> {
  const [{ readPage }, { staticPage }] = await Promise.all([
    import('../dashboard/page-files.ts'),
    import('../dashboard/static-page.ts'),
  ]);
  const text = staticPage(readPage(), dashboard);
  const there = lstatSync(file, { throwIfNoEntry: false });
  // it is replaced: a link such as /dev/stdout would be gone for everybody
  if (there !== undefined && !there.isFile())
    throw new CniGateError('CNI_GATE_OUTPUT', `cannot write ${file}: it is there, and is no regular file`);
  try {
    // an older file may be readable for others
    rmSync(file, { force: true });
    writeFileSync(file, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw new CniGateError('CNI_GATE_OUTPUT', `cannot write ${file}: ${messageOf(error)}`, { cause: error });
  }
  process.stdout.write(`wrote ${file}\n`);
}

/** Serves the page until it is told to stop. @throws CniGateError CNI_GATE_LISTEN */
async function serve(
  client: ApiClient,
  wanted: Parameters<typeof import('../status/collect/watch.ts').watchStatus>[1],
  first: StatusFacts,
  show: Show,
  atPort: number,
): Promise<void> {
  const [{ watchStatus }, { roleFor }, { dashboardServer }, { readPage }, { listen }] = await Promise.all([
    import('../status/collect/watch.ts'),
    import('../status/collect/role.ts'),
    import('../dashboard/server.ts'),
    import('../dashboard/page-files.ts'),
    import('../server/listen.ts'),
  ]);
  // by what cannot be read, until it is read again
  const outages = new Map<unknown, string>();
  const warn: Log['warn'] = (known: { err?: unknown; resource?: unknown; during?: unknown }, message) => {
    const text = `${message}${roleFor(known.err)}`;
    if (known.during !== undefined) outages.set(known.resource, text);
    process.stderr.write(`cni-gate: ${text}\n`);
  };
  const info = ({ resource }: { resource?: unknown }): void => void outages.delete(resource);
  const watch = watchStatus(client, wanted, first, { info, warn, error: warn });
  // made only while somebody looks, at most once a second, and of a large cluster so that most of the time is left
  let made: { at: number; took: number; dashboard: Dashboard } | undefined;
  const latest = (): Dashboard => {
    const began = performance.now();
    if (made === undefined || began - made.at >= Math.max(dashboardLimits.age, 4 * made.took)) {
      const [stale = null] = outages.values();
      const dashboard = show(watch.facts() ?? first, stale);
      const at = performance.now();
      made = { at, took: at - began, dashboard };
    }
    return made.dashboard;
  };
  const token = randomBytes(24).toString('base64url');
  const app = dashboardServer({ page: readPage(), token, latest });
  try {
    const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
    for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => stop());
    const opened = await listen(app, '127.0.0.1', atPort, '--port');
    process.stdout.write(`http://127.0.0.1:${opened}/#token=${token}\n`);
    await stopped;
  } finally {
    await app.close();
    await watch.close();
  }
}
