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
 * ConfigMap. Where it is not valid, the built-in one, and why: most of a status does not depend on it.
 *
 * @param namespace of cni-gate
 * @param mayBeHidden whether a missing right to read it is such a reason as well
 * @throws ClusterError where it cannot be read
 */
export async function usablePolicy(
  client: ApiClient,
  namespace: string,
  mayBeHidden = false,
): Promise<FoundPolicy> {
  const { name, key } = installedConfiguration;
  const source = `${key} of ConfigMap ${namespace}/${name}`;
  const builtIn = (why: string): FoundPolicy => ({
    policy: readPolicy(undefined),
    source: `the built-in profiles${why}`,
  });
  try {
    const path = apiPath`/api/v1/namespaces/${namespace}/configmaps/${name}`;
    const { data } = await client.request<{ data?: Record<string, string> | null }>('GET', path);
    const text = own(data, key);
    if (text !== undefined) return { policy: parsePolicy(text, source), source };
    return builtIn(` (there is no ${source})`);
  } catch (error) {
    if (!(error instanceof CniGateError)) throw error;
    const { status, missingRight } = error instanceof ClusterError ? error : {};
    if (status === 404) return builtIn(` (there is no ${source})`);
    const { code } = error;
    // the pods of cni-gate have it as a file
    const other = status === 403 ? '; or give the configuration as a file, with --config' : '';
    const isHidden = mayBeHidden && status === 403;
    if (error instanceof ClusterError && status === 403 && !isHidden)
      throw new ClusterError(code, error.message + other, { status, missingRight, cause: error });
    if (!isHidden && !code.startsWith('CNI_GATE_CONFIG_')) throw error;
    // a fault is one line
    const message = error.message.split(/\s*\n\s*/).join('; ') + other;
    const why = `, as the configuration of the installation ${isHidden ? 'may not be read' : 'is not valid'}`;
    return {
      ...builtIn(why),
      trouble: { code, message, ...(missingRight !== undefined && { right: missingRight }) },
    };
  }
}
