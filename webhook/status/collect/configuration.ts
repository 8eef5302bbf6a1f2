import { parsePolicy, readPolicy } from '../../config/file.ts';
import type { Policy } from '../../config/policy.ts';
import { apiPath } from '../../kubernetes/api-path.ts';
import type { ApiClient } from '../../kubernetes/client.ts';
import { ClusterError } from '../../kubernetes/errors.ts';
import { installedConfiguration } from '../../lib/names.ts';
import { own } from '../../lib/own.ts';

/** A configuration, and where it is from. */
export interface FoundPolicy {
  policy: Policy;
  /** For people. */
  source: string;
}

/**
 * The configuration that the cluster's cni-gate has: that of its ConfigMap, or the built-in one where there is no such
 * ConfigMap.
 *
 * @param namespace of cni-gate
 * @throws ClusterError where it cannot be read; CniGateError where it is none
 */
export async function installedPolicy(client: ApiClient, namespace: string): Promise<FoundPolicy> {
  const { name, key } = installedConfiguration;
  const path = apiPath`/api/v1/namespaces/${namespace}/configmaps/${name}`;
  const source = `${key} of ConfigMap ${namespace}/${name}`;
  try {
    const { data } = await client.request<{ data?: Record<string, string> | null }>('GET', path);
    const text = own(data, key);
    if (text !== undefined) return { policy: parsePolicy(text, source), source };
  } catch (error) {
    if (!(error instanceof ClusterError)) throw error;
    if (error.status === 403) throw mayNotRead(error);
    if (error.status !== 404) throw error;
  }
  return { policy: readPolicy(undefined), source: `the built-in profiles (there is no ${source})` };
}

/** Who may not read the ConfigMap may have it as a file, as the pods of cni-gate do. */
const mayNotRead = (error: ClusterError): ClusterError =>
  new ClusterError(error.code, `${error.message}; or give the configuration as a file, with --config`, {
    status: 403,
    cause: error,
  });
