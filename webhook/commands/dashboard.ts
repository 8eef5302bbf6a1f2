import { randomBytes } from 'node:crypto';
import { Command } from 'commander';
import type { Dashboard } from '../report/dashboard/data.ts';
import type { StatusFlags } from '../report/observe/follow.ts';
import { addInstallationOptions, namespaceName, port } from './options.ts';

interface Flags extends StatusFlags {
  port?: number;
}

const more = `
It listens on 127.0.0.1 alone, and installs nothing in the cluster. Who has the
printed address sees what your kubeconfig may read. Ctrl-C ends it.

Exit code: 0 ended; 2 wrong usage, no answer from the
cluster, or a missing right.`;

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

/** Serves the page until the process gets SIGINT or SIGTERM. @throws CniGateError CNI_GATE_LISTEN */
async function run(flags: Flags): Promise<void> {
  // loaded here, because the other commands do not need these modules
  const [{ readings }, { dashboardOf }, { dashboardServer }, { listen }] = await Promise.all([
    import('../report/observe/follow.ts'),
    import('../report/dashboard/data.ts'),
    import('../report/dashboard/server.ts'),
    import('../server/listen.ts'),
  ]);
  const token = randomBytes(24).toString('base64url');
  let dashboard: Dashboard | undefined;
  const app = dashboardServer(token, () => dashboard);
  const onTrouble = (stale: string): void => {
    dashboard = dashboard && { ...dashboard, stale };
    process.stderr.write(`cni-gate: ${stale}\n`);
  };
  try {
    for await (const facts of readings(flags, onTrouble)) {
      const isFirst = dashboard === undefined;
      dashboard = dashboardOf(facts, Date.now());
      if (!isFirst) continue;
      const opened = await listen(app, '127.0.0.1', flags.port ?? 0, '--port');
      process.stdout.write(`http://127.0.0.1:${opened}/#token=${token}\n`);
    }
  } finally {
    await app.close();
  }
}
