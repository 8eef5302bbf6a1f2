import type { V1ConfigMap } from '@kubernetes/client-node';
import { apiPath } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
import { ClusterError } from '../../cluster/errors.ts';
import { parsePolicy, readPolicy } from '../../config/load.ts';
import type { CombinedProfiles, Policy } from '../../core/profiles/policy.ts';
import { CniGateError, type ErrorCode } from '../../lib/errors.ts';
import { getOwn } from '../../lib/maps.ts';
import { installedConfiguration } from '../../lib/names.ts';

/** A configuration, and where it is from. */
export interface FoundPolicy {
  policy: Policy;
  /** For people. */
  source: string;
  /** Why it is not that of the installation; absent where it is. */
  trouble?: { code: ErrorCode; message: string; right?: string };
}

/** The built-in configuration. @param why why it is used, in brackets or after a comma */
export const builtInPolicy = (why = ''): FoundPolicy => ({
  policy: readPolicy(undefined),
  source: `the built-in profiles${why}`,
});

/** The configuration in a file; undefined without a path. @throws CniGateError */
export const givenPolicy = (path: string | undefined): FoundPolicy | undefined =>
  path === undefined ? undefined : { policy: readPolicy(path), source: path };

/**
 * The configuration in the ConfigMap of the installation, or the built-in one where there is none. Where it is not valid,
 * the built-in one, and why: most of a status does not depend on it.
 *
 * @param mayBeHidden whether a missing right to read it is such a reason as well
 * @throws ClusterError where it cannot be read
 */
export async function readConfiguration(
  client: ApiClient,
  namespace: string,
  mayBeHidden: boolean,
): Promise<FoundPolicy> {
  const { name, key } = installedConfiguration;
  const source = `${key} of ConfigMap ${namespace}/${name}`;
  try {
    const path = apiPath`/api/v1/namespaces/${namespace}/configmaps/${name}`;
    const text = getOwn((await client.get<V1ConfigMap>(path))?.data, key);
    if (text !== undefined) return { policy: parsePolicy(text, source), source };
    return builtInPolicy(` (there is no ${source})`);
  } catch (error) {
    if (!(error instanceof CniGateError)) throw error;
    const { status, missingRight: right } = error instanceof ClusterError ? error : {};
    const isHidden = mayBeHidden && status === 403;
    if (!isHidden && !error.code.startsWith('CNI_GATE_CONFIG_')) throw error;
    // a fault is one line
    const message = error.message.split(/\s*\n\s*/).join('; ');
    const why = `, as the configuration of the installation ${isHidden ? 'may not be read' : 'is not valid'}`;
    return { ...builtInPolicy(why), trouble: { code: error.code, message, ...(right && { right }) } };
  }
}

/** The profiles that a label asks for, or why they cannot be combined. */
export function combinedOf(policy: Policy, label: string): CombinedProfiles | CniGateError {
  try {
    return policy.combineProfiles(label);
  } catch (error) {
    if (error instanceof CniGateError) return error;
    throw error;
  }
}
