import { spawnSync } from 'node:child_process';
import { run } from '../../support/run.ts';
import { nodeAddress } from './settings.ts';

/** Debian's CNI plugins. */
export const pluginFolder = '/usr/lib/cni';

const bridge = 'cni0';

/** The file of the node's primary network, in `/etc/cni/net.d`. */
export const chainFile = '10-pods.conflist';

/** What the primary network writes at each boot: Debian's `bridge` and `host-local`, and no plugin of a mesh. */
export const primaryChain = {
  cniVersion: '1.0.0',
  name: 'pods',
  plugins: [
    {
      type: 'bridge',
      bridge,
      isDefaultGateway: true,
      ipam: { type: 'host-local', ranges: [[{ subnet: '10.244.0.0/24' }]] },
    },
  ],
};

/**
 * Gives the run's network an address for the node, and a way out that leads nowhere: as in most clusters, a connection
 * to an address that nobody has is not answered at all.
 */
export async function makeNetwork(): Promise<void> {
  await run('ip', ['address', 'replace', `${nodeAddress}/32`, 'dev', 'lo']);
  await run('ip', ['route', 'replace', 'blackhole', 'default']);
}

/** What a node that is off has no more. The pods' ends went with their namespaces. */
export function removeBridge(): void {
  // it is not there where no pod was
  spawnSync('ip', ['link', 'delete', bridge]);
}
