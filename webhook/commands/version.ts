import type { V1Deployment } from '@kubernetes/client-node';
import { Command } from 'commander';
import type { ApiClient } from '../cluster/client.ts';
import { installedDeployment } from '../lib/names.ts';
import { version } from '../lib/version.ts';
import { addClusterOptions, type ClusterFlags, ownNamespaceOption } from './options.ts';

interface Flags extends ClusterFlags {
  client?: true;
  ownNamespace: string;
}

const more = `
The version of the installation is the tag of the image of its Deployment.

Exit code: 0 printed; 2 wrong usage, no answer from the cluster, or a missing
right.`;

/** `cni-gate version`: the version of this program and, if a cluster is configured, of the installation in it. */
export function versionCommand(): Command {
  const command = new Command('version').description(
    'print the version of this program, and of cni-gate in the cluster',
  );
  command.addHelpText('after', more);
  return addClusterOptions(command)
    .addOption(ownNamespaceOption())
    .option('--client', 'only of this program')
    .action(run);
}

async function run({ client: only, kubeconfig, context, ownNamespace }: Flags): Promise<void> {
  process.stdout.write(`Client: ${version}\n`);
  if (only) return;
  const [{ openCluster }, { NoCluster }] = await Promise.all([
    import('../cluster/open.ts'),
    import('../cluster/access.ts'),
  ]);
  try {
    const client = await openCluster(kubeconfig, context);
    try {
      process.stdout.write(`Server: ${await serverText(client, ownNamespace)}\n`);
    } finally {
      client.close();
    }
  } catch (error) {
    if (!(error instanceof NoCluster)) throw error;
    process.stdout.write('Server: no cluster is configured\n');
  }
}

/** The version of the installation, and where that is. @throws ClusterError where the cluster does not answer, or a right is missing */
async function serverText(client: ApiClient, namespace: string): Promise<string> {
  const [{ apiPath }, { ClusterError }, { versionIn }, { clean }] = await Promise.all([
    import('../cluster/api-path.ts'),
    import('../cluster/errors.ts'),
    import('../report/facts/deployment.ts'),
    import('../lib/clean.ts'),
  ]);
  const path = apiPath`/apis/apps/v1/namespaces/${namespace}/deployments/${installedDeployment}`;
  const found = await client.request<V1Deployment>('GET', path).then(
    (deployment) => versionIn(deployment) ?? 'not known: its image has no tag',
    (error: unknown) => {
      if (error instanceof ClusterError && error.status === 404) return 'not installed';
      throw error;
    },
  );
  const where = client.context === undefined ? '' : `, context ${client.context}`;
  return clean(`${found} (${client.server}${where})`);
}
