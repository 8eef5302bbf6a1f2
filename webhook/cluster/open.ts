import { ApiClient } from './client.ts';
import { inCluster } from './in-cluster.ts';

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
