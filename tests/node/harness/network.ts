import { spawnSync } from 'node:child_process';
import type { Cluster } from '../../cluster/harness/cluster.ts';
import { kubernetesService } from '../../cluster/harness/layout.ts';
import type { ClusterOptions } from '../../cluster/harness/options.ts';
import { run } from '../../support/run.ts';
import { nodeAddress } from './settings.ts';

export const pluginFolder = '/usr/lib/cni';

const bridge = 'cni0';

/** Options of a control plane for a cluster with a real node. */
export const forNodes: ClusterOptions = {
  // a node without heartbeats for 40 s becomes NotReady
  nodeLifecycle: 40,
  flags: { 'kube-apiserver': ['--bind-address=0.0.0.0', '--kubelet-preferred-address-types=InternalIP'] },
};

/** The name of the primary network's configuration file in `/etc/cni/net.d`. */
export const chainFile = '10-pods.conflist';

/** The chain that the primary network writes at each boot: Debian's `bridge` and `host-local`, but no mesh's plugin. */
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
 * Gives the run's network namespace the node's address, and a default route that drops packets: as in most clusters, a
 * connection to an unused address gets no answer. Pods reach the API server through its Service, as with kube-proxy, so
 * the API server has to listen on all addresses: see {@link forNodes}.
 */
export async function makeNetwork(cluster: Cluster): Promise<void> {
  await run('ip', ['address', 'replace', `${nodeAddress}/32`, 'dev', 'lo']);
  await run('ip', ['route', 'replace', 'blackhole', 'default']);
  const toService = ['-d', kubernetesService, '-p', 'tcp', '--dport', '443'];
  const toServer = ['--to-ports', String(cluster.ports['kube-apiserver'])];
  // inserted before the rule of an earlier control plane in this run
  await run('iptables-nft', ['-t', 'nat', '-I', 'PREROUTING', ...toService, '-j', 'REDIRECT', ...toServer]);
}

/** Removes the bridge, as a power cut would. The other ends of its links are gone with the pods' network namespaces. */
export function removeBridge(): void {
  // fails if the node had no pod and therefore no bridge
  spawnSync('ip', ['link', 'delete', bridge]);
}
