import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { CniGateError, errnoOf, messageOf } from '../lib/errors.ts';
import type { Access } from './access.ts';
import { ApiClient } from './client.ts';

/**
 * A client for the cluster that this process belongs to: the file that was named, else the pod's service account,
 * else `$KUBECONFIG`, else `~/.kube/config`. Nothing is sent yet, so a cluster that does not answer is no error.
 *
 * @param kubeconfig a file, which wins over everything else
 * @param context of the kubeconfig file, which then wins over the service account too
 * @throws CniGateError CNI_GATE_CLUSTER_CONFIG where no cluster is named anywhere, or what names it cannot be used
 */
export async function openCluster(kubeconfig?: string, context?: string): Promise<ApiClient> {
  const own = kubeconfig === undefined && context === undefined ? inCluster(process.env) : undefined;
  if (own !== undefined) return new ApiClient(own);
  // loaded only here: in a pod it would cost its memory for nothing
  const { fromKubeconfig } = await import('./kubeconfig.ts');
  return new ApiClient(fromKubeconfig(kubeconfig, context));
}

/** Where the kubelet mounts a pod's service account: https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/ */
const mounted = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * The way to the API server from inside a pod, or undefined where the process does not run in a pod with a service account. Token
 * and authority are read anew for each request: the kubelet replaces the token long before it expires, and the
 * files lie in memory.
 *
 * @param folder where the service account is mounted
 */
export function inCluster(env: NodeJS.ProcessEnv, folder = mounted): Access | undefined {
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  const tokenFile = join(folder, 'token');
  if (!host || !port || !existsSync(tokenFile)) return undefined;
  const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  return {
    source: 'the service account of the pod',
    connection: async () => {
      const [token, ca] = await Promise.all([read(tokenFile), read(join(folder, 'ca.crt'))]);
      return { server, headers: { authorization: `Bearer ${token.trim()}` }, tls: { ca } };
    },
    refresh: () => {},
  };
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    const message = `cannot read ${file} of the pod's service account: ${errnoOf(error) ?? messageOf(error)}`;
    throw new CniGateError('CNI_GATE_CLUSTER_CONFIG', message, { cause: error });
  }
}
