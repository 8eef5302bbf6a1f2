import type { ApiClient } from '../../cluster/client.ts';
import { type ApiVersion, usesNominations } from '../../leader/steering/eligibility.ts';
import { mapObservation, readOne } from './observation.ts';

/** Reads the version of the API server. @throws ClusterError where the cluster does not answer */
export const readVersion = async (client: ApiClient) =>
  mapObservation(await readOne<ApiVersion>(client, '/version', 'the version'), versionFacts);

/** Numbers such as `36+` are those of some providers. */
const versionFacts = (version: ApiVersion) => ({
  major: Number.parseInt(version.major, 10),
  minor: Number.parseInt(version.minor, 10),
  text: version.gitVersion,
  usesNominations: usesNominations(version),
});
