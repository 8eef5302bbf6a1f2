import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { CniGateError } from '../lib/errors.ts';
import type { Dashboard } from '../report/dashboard/data.ts';
import { addInstallationOptions, namespaceName, port } from './options.ts';
import type { ReportFlags } from './report.ts';

interface Flags extends ReportFlags {
  port?: number;
}

const more = `
It listens on 127.0.0.1 alone, and installs nothing in the cluster. Who has the
printed address sees what your kubeconfig may read. Ctrl-C ends it.

Exit code: 0 ended; 2 wrong usage, or no answer from the cluster.`;

/** `cni-gate dashboard` shows the status of a cluster on a local page. */
export function dashboardCommand(): Command {
  const command = new Command('dashboard').description(
    'show the status of all nodes and pods on a local page, which follows the cluster',
  );
  command.addHelpText('after', more);
  return addInstallationOptions(command)
    .option('-n, --namespace <name>', 'only this opted-in namespace', namespaceName)
    .option('--port <port>', 'port on 127.0.0.1 (default: a free one)', port)
    .action(run);
}

/** The shortest pause between two readings, in milliseconds. */
const leastPause = 2_000;

/** The pause after a reading takes this many times as long as the reading, to limit the load on the API server. */
const pauseFactor = 4;

/** Serves the page until SIGINT or SIGTERM. @throws CniGateError CNI_GATE_LISTEN, or if the first reading fails */
async function run({ config, ...flags }: Flags): Promise<void> {
  // loaded here, because the other commands do not need these modules
  const [{ openCluster }, { givenPolicy }, { observe }, { dashboardOf }, { dashboardServer }, { listen }] =
    await Promise.all([
      import('../cluster/open.ts'),
      import('../report/observe/configuration.ts'),
      import('../report/observe/observe.ts'),
      import('../report/dashboard/data.ts'),
      import('../report/dashboard/server.ts'),
      import('../server/listen.ts'),
    ]);
  const options = { ...flags, given: givenPolicy(config) };
  const client = await openCluster(flags.kubeconfig, flags.context);
  const token = randomBytes(24).toString('base64url');
  let dashboard: Dashboard | undefined;
  const app = dashboardServer(token, () => dashboard);
  try {
    dashboard = dashboardOf(await observe(client, options));
    const opened = await listen(app, '127.0.0.1', flags.port ?? 0);
    const stop = new AbortController();
    for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => stop.abort());
    process.stdout.write(`http://127.0.0.1:${opened}/#token=${token}\n`);
    for (let pause = leastPause; ; ) {
      await sleep(pause, undefined, { signal: stop.signal }).catch(() => {});
      if (stop.signal.aborted) return;
      const began = performance.now();
      try {
        dashboard = dashboardOf(await observe(client, options));
      } catch (error) {
        if (!(error instanceof CniGateError)) throw error;
        if (dashboard.stale !== error.message) process.stderr.write(`cni-gate: ${error.message}\n`);
        dashboard = { ...dashboard, stale: error.message };
      }
      pause = Math.max(leastPause, pauseFactor * (performance.now() - began));
    }
  } finally {
    client.close();
    await app.close();
  }
}
