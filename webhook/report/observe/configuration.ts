import type { V1ConfigMap } from '@kubernetes/client-node';
import { apiPath } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
import { parsePolicy, readPolicy } from '../../config/load.ts';
import type { Policy } from '../../core/profiles/policy.ts';
import { CniGateError } from '../../lib/errors.ts';
import { getOwn } from '../../lib/maps.ts';
import { installedConfiguration } from '../../lib/names.ts';
import { readOne } from './observation.ts';

/** A configuration, and where it was read from. */
export interface FoundPolicy {
  policy: Policy;
  /** Where the policy was read from, for messages. */
  source: string;
  /** Why the installation's own configuration is not valid, and therefore not used. */
  invalid?: CniGateError;
  /** Why the installation's own configuration could not be read: a permission is missing. */
  unknown?: string;
  /** The name of the installation's own configuration, if that does not exist. */
  missing?: string;
}

/** The configuration in the file at `path`; undefined without a path. @throws CniGateError */
export const givenPolicy = (path: string | undefined): FoundPolicy | undefined =>
  path === undefined ? undefined : { policy: readPolicy(path), source: path };

/**
 * Reads the configuration in the installation's ConfigMap. If there is none, or if it cannot be used, the result is the
 * built-in configuration, because most of a report does not depend on it.
 *
 * @throws ClusterError where the cluster does not answer
 */
export async function readConfiguration(client: ApiClient, namespace: string): Promise<FoundPolicy> {
  const { name, key } = installedConfiguration;
  const source = `${key} of ConfigMap ${namespace}/${name}`;
  const path = apiPath`/api/v1/namespaces/${namespace}/configmaps/${name}`;
  const { found, unknown } = await readOne<V1ConfigMap>(client, path, source);
  const text = getOwn(found?.data, key);
  const builtIn = { policy: readPolicy(undefined), source: 'the built-in profiles' };
  if (unknown) return { ...builtIn, unknown: `${unknown} (or give it as a file: --config)` };
  if (text === undefined)
    return { ...builtIn, source: `${builtIn.source} (there is no ${source})`, missing: source };
  try {
    return { policy: parsePolicy(text, source), source };
  } catch (error) {
    if (!(error instanceof CniGateError)) throw error;
    return { ...builtIn, invalid: error };
  }
}
