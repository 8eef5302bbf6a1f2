import { parsePolicy, readPolicy } from '../../config/file.ts';
import type { Policy } from '../../config/policy.ts';
import { apiPath } from '../../kubernetes/api-path.ts';
import type { ApiClient } from '../../kubernetes/client.ts';
import { ClusterError } from '../../kubernetes/errors.ts';
import { CniGateError } from '../../lib/errors.ts';
import { installedConfiguration } from '../../lib/names.ts';
import { own } from '../../lib/own.ts';
import type { Fault } from '../model.ts';

/** A configuration, and where it is from. */
export interface FoundPolicy {
  policy: Policy;
  /** For people. */
  source: string;
  /** Why it is not that of the installation; absent where it is. */
  trouble?: Fault;
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

/**
 * As {@link installedPolicy}, but the built-in configuration where that of the cluster is not valid: most of a status does
 * not depend on it.
 *
 * @throws ClusterError where it cannot be read
 */
export async function usablePolicy(client: ApiClient, namespace: string): Promise<FoundPolicy> {
  try {
    return await installedPolicy(client, namespace);
  } catch (error) {
    if (!(error instanceof CniGateError) || !error.code.startsWith('CNI_GATE_CONFIG_')) throw error;
    const { code } = error;
    // a fault is one line
    const message = error.message.split(/\s*\n\s*/).join('; ');
    const source = 'the built-in profiles, as the configuration of the installation is not valid';
    return { policy: readPolicy(undefined), source, trouble: { code, message } };
  }
}

/** Who may not read the ConfigMap may have it as a file, as the pods of cni-gate do. */
const mayNotRead = (error: ClusterError): ClusterError =>
  new ClusterError(error.code, `${error.message}; or give the configuration as a file, with --config`, {
    status: 403,
    missingRight: error.missingRight,
    cause: error,
  });
