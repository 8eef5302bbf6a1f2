import { spawnSync } from 'node:child_process';
import type { Cluster } from '../../cluster/harness/cluster.ts';
import { kubernetesService } from '../../cluster/harness/layout.ts';
import type { ClusterOptions } from '../../cluster/harness/options.ts';
import { run } from '../../support/run.ts';
import { nodeAddress } from './settings.ts';

export const pluginFolder = '/usr/lib/cni';

const bridge = 'cni0';

/** Options of a control plane that has such a node. */
export const forNodes: ClusterOptions = {
  // the node's heartbeats count, as in a cluster
  nodeLifecycle: 40,
  flags: { 'kube-apiserver': ['--bind-address=0.0.0.0', '--kubelet-preferred-address-types=InternalIP'] },
};

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
 * to an unused address is not answered. Pods get to the API server by its Service, as through
 * kube-proxy: it has to listen on all addresses, see {@link forNodes}.
 */
export async function makeNetwork(cluster: Cluster): Promise<void> {
  await run('ip', ['address', 'replace', `${nodeAddress}/32`, 'dev', 'lo']);
  await run('ip', ['route', 'replace', 'blackhole', 'default']);
  const toService = ['-d', kubernetesService, '-p', 'tcp', '--dport', '443'];
  const toServer = ['--to-ports', String(cluster.ports['kube-apiserver'])];
  // in front of the one for another control plane that this run had before
  await run('iptables-nft', ['-t', 'nat', '-I', 'PREROUTING', ...toService, '-j', 'REDIRECT', ...toServer]);
}

/** What a node that is off has no more. The pods' ends went with their namespaces. */
export function removeBridge(): void {
  // it is not there where no pod was
  spawnSync('ip', ['link', 'delete', bridge]);
}
