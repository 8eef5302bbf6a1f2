import { existsSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import { join } from 'node:path';
import { readText } from '../lib/live-files.ts';
import { type Access, ApiClient } from './client.ts';

/**
 * Makes a client, but sends no request yet. The client uses the named file, else the pod's service account, else
 * `$KUBECONFIG`, else `~/.kube/config`.
 * @param context of the kubeconfig file; if given, the service account is not used
 * @throws CniGateError CNI_GATE_CLUSTER_CONFIG if no configuration is found, or it cannot be used
 */
export async function openCluster(kubeconfig?: string, context?: string): Promise<ApiClient> {
  const own = kubeconfig === undefined && context === undefined ? inCluster(process.env) : undefined;
  if (own !== undefined) return new ApiClient(own);
  // loaded only if needed, because it takes much memory, and pods use their service account
  const { fromKubeconfig } = await import('./kubeconfig.ts');
  return new ApiClient(fromKubeconfig(kubeconfig, context));
}

/** Source: https://kubernetes.io/docs/tasks/run-application/access-api-from-pod/ */
const mounted = '/var/run/secrets/kubernetes.io/serviceaccount';

/**
 * Access by the pod's service account, if there is one. The kubelet replaces the token, so it is read for each request.
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
      const token = readText(tokenFile, 'CNI_GATE_CLUSTER_CONFIG').trim();
      const ca = readText(join(folder, 'ca.crt'), 'CNI_GATE_CLUSTER_CONFIG');
      return { server, headers: { authorization: `Bearer ${token}` }, tls: { ca } };
    },
    refresh: () => {},
  };
}
