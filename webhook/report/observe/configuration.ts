import type { V1ConfigMap } from '@kubernetes/client-node';
import { apiPath } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
import { ClusterError } from '../../cluster/errors.ts';
import { parsePolicy, readPolicy } from '../../config/load.ts';
import type { Policy } from '../../core/profiles/policy.ts';
import { CniGateError, type ErrorCode } from '../../lib/errors.ts';
import { getOwn } from '../../lib/maps.ts';
import { installedConfiguration } from '../../lib/names.ts';

/** A configuration, and where it was read from. */
export interface FoundPolicy {
  policy: Policy;
  /** Where the policy was read from, for messages. */
  source: string;
  /** Why the installation's own configuration could not be used; absent if it is used. */
  trouble?: { code: ErrorCode; message: string; right?: string | undefined };
}

/** The built-in configuration. @param why the reason for its use, appended to `source` as it is */
export const builtInPolicy = (why = ''): FoundPolicy => ({
  policy: readPolicy(undefined),
  source: `the built-in profiles${why}`,
});

/** The configuration in the file at `path`; undefined without a path. @throws CniGateError */
export const givenPolicy = (path: string | undefined): FoundPolicy | undefined =>
  path === undefined ? undefined : { policy: readPolicy(path), source: path };

/**
 * Reads the configuration in the installation's ConfigMap. Returns the built-in one if there is no ConfigMap, and
 * also, with `trouble`, if the ConfigMap is not valid, because most of a status does not depend on the configuration.
 *
 * @param mayBeHidden whether to return the built-in configuration also if the right to read the ConfigMap is missing
 * @throws ClusterError where the ConfigMap cannot be read
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
    // because `trouble.message` is shown on one line
    const message = error.message.split(/\s*\n\s*/).join('; ');
    const why = `, as the configuration of the installation ${isHidden ? 'may not be read' : 'is not valid'}`;
    return { ...builtInPolicy(why), trouble: { code: error.code, message, right } };
  }
}
