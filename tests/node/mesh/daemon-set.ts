import { readFileSync } from 'node:fs';
import { watch } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Server } from '../../cluster/harness/access.ts';
import { chainFile } from '../harness/network.ts';
import type { RealNode } from '../harness/node.ts';
import { standIn } from '../images/images.ts';

const plugin = 'mesh-rules';
const program = fileURLToPath(new URL('./plugin.ts', import.meta.url));
const own = { namespace: 'linkerd-cni', name: 'linkerd-cni' };
const labels = { 'k8s-app': own.name };

export const installerImage = () => standIn('localhost/linkerd-cni:test', 'installer.ts');

/**
 * linkerd-cni as its own manifests install it, with the names in the profile `linkerd`: a DaemonSet on the host network
 * that appends its plugin to the chain of the node's primary network, and whose service account may `get` pods.
 */
export function linkerdCni({ url }: Server, seconds: number): object[] {
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: own.namespace } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: own },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: own.name },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    },
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRoleBinding',
      metadata: { name: own.name },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: own.name },
      subjects: [{ kind: 'ServiceAccount', ...own }],
    },
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: own,
      spec: {
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: pod(url, seconds) },
      },
    },
  ];
}

export async function chained({ chain }: RealNode): Promise<void> {
  const isIn = (): boolean => readFileSync(chain, 'utf8').includes(plugin);
  const watching = new AbortController();
  const changes = watch(chain, { signal: watching.signal });
  try {
    if (isIn()) return;
    for await (const _ of changes) if (isIn()) return;
  } finally {
    watching.abort();
  }
}

function pod(apiServer: string, seconds: number): object {
  const folders = { configuration: '/etc/cni/net.d', programs: '/opt/cni/bin' };
  return {
    serviceAccountName: own.name,
    hostNetwork: true,
    tolerations: [{ operator: 'Exists' }],
    terminationGracePeriodSeconds: 1,
    containers: [
      {
        name: 'install-cni',
        image: installerImage().name,
        env: Object.entries({
          API_SERVER: apiServer,
          CHAIN: `${folders.configuration}/${chainFile}`,
          PLUGIN: plugin,
          // the plugin runs on the node, which can read the machine's files
          PLUGIN_COMMAND: `env NODE_COMPILE_CACHE=${folders.programs}/cache '${process.execPath}' '${program}'`,
          SECONDS: String(seconds),
        }).map(([name, value]) => ({ name, value })),
        volumeMounts: Object.entries(folders).map(([name, mountPath]) => ({ name, mountPath })),
      },
    ],
    volumes: Object.entries(folders).map(([name, path]) => ({ name, hostPath: { path } })),
  };
}
