import { apiPath } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
import { ClusterError } from '../../cluster/errors.ts';
import { parsePolicy, readPolicy } from '../../config/load.ts';
import type { Policy } from '../../config/policy.ts';
import { CniGateError, type ErrorCode } from '../../lib/errors.ts';
import { installedConfiguration } from '../../lib/names.ts';
import { own } from '../../lib/own.ts';

/** A configuration, and where it is from. */
export interface FoundPolicy {
  policy: Policy;
  /** For people. */
  source: string;
  /** Why it is not that of the installation; absent where it is. */
  trouble?: { code: ErrorCode; message: string; right?: string };
}

/**
 * The configuration that the cluster's cni-gate has: that of its ConfigMap, or the built-in one where there is no such
 * ConfigMap.
 *
 * @param namespace of cni-gate
 * @throws ClusterError where it cannot be read; CniGateError where it is not valid
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
 * As {@link installedPolicy}, but the built-in configuration, and why, where that of the cluster is not valid: most of a
 * status does not depend on it.
 *
 * @param mayBeHidden whether a missing right to read it is such a reason as well
 * @throws ClusterError where it cannot be read
 */
export async function usablePolicy(
  client: ApiClient,
  namespace: string,
  mayBeHidden = false,
): Promise<FoundPolicy> {
  try {
    return await installedPolicy(client, namespace);
  } catch (error) {
    if (!(error instanceof CniGateError)) throw error;
    const { code } = error;
    const isHidden = mayBeHidden && code === 'CNI_GATE_CLUSTER_FORBIDDEN';
    if (!isHidden && !code.startsWith('CNI_GATE_CONFIG_')) throw error;
    // a fault is one line
    const message = error.message.split(/\s*\n\s*/).join('; ');
    const right = error instanceof ClusterError ? error.missingRight : undefined;
    const source = `the built-in profiles, as the configuration of the installation ${isHidden ? 'may not be read' : 'is not valid'}`;
    const trouble = { code, message, ...(right !== undefined && { right }) };
    return { policy: readPolicy(undefined), source, trouble };
  }
}

/** Who may not read the ConfigMap may have it as a file, as the pods of cni-gate do. */
const mayNotRead = (error: ClusterError): ClusterError =>
  new ClusterError(error.code, `${error.message}; or give the configuration as a file, with --config`, {
    status: 403,
    missingRight: error.missingRight,
    cause: error,
  });
