import { readPolicy } from '../../config/file.ts';
import type { Policy } from '../../config/policy.ts';
import { apiPath } from '../../kubernetes/api-path.ts';
import type { ApiClient } from '../../kubernetes/client.ts';
import { ClusterError } from '../../kubernetes/errors.ts';
import { CniGateError } from '../../lib/errors.ts';
import { installedDeployment } from '../../lib/names.ts';
import type { DaemonSetFacts } from '../../readiness/facts.ts';
import { clusterIdentity } from '../../status/cluster-identity.ts';
import { type FoundPolicy, installedPolicy } from '../../status/collect/configuration.ts';
import { readAdmission } from '../../status/collect/list.ts';
import { type ApiDeployment, servingSecret } from '../../status/collect/objects.ts';
import { makeProbe } from '../../status/collect/probe.ts';
import { ClusterReader, eachOf, observe } from '../../status/collect/reader.ts';
import { optInSource } from '../../status/collect/sources.ts';
import { foundIn, type Observation } from '../../status/installation/facts.ts';
import { daemonSetSources } from '../../view/sources.ts';
import type { ConfigurationFacts, InstalledFacts } from '../facts.ts';
import { serverRights } from '../rights.ts';
import { readCluster } from './cluster.ts';
import { rightsOf } from './rights.ts';

/** What a check of an installation is asked for. */
export interface InstalledOptions {
  /** Of cni-gate. */
  ownNamespace: string;
  /** A configuration from a file, instead of the ConfigMap. */
  given: FoundPolicy | undefined;
  /** Whether to create a pod as a dry run. */
  probe: boolean;
}

/**
 * Reads all that a check of an installation is about. What may not be read is in the facts.
 *
 * @throws ClusterError where the cluster does not answer
 */
export async function readInstalled(client: ApiClient, options: InstalledOptions): Promise<InstalledFacts> {
  const { ownNamespace, given, probe } = options;
  // one that fails ends the others
  const stop = new AbortController();
  const reader = new ClusterReader(client, stop.signal);
  try {
    const read = await readCluster(reader);
    const [configuration, { registered, installation }, namespaces] = await Promise.all([
      given ?? findConfiguration(client, ownNamespace),
      readAdmission(reader, ownNamespace),
      observe(reader.list(optInSource(undefined)), 'namespaces'),
    ]);
    const { policy } = configuration;
    const [daemonSets, { account, serverRights: rights }] = await Promise.all([
      readDaemonSets(reader, policy),
      readServerRights(reader, installation.namespace, policy),
    ]);
    const cluster = clusterIdentity(client, installation.deployment);
    const facts = { ...read, cluster, configuration, registered, installation, namespaces, daemonSets };
    const all: InstalledFacts = { ...facts, account, serverRights: rights, clockSkew: client.clockSkew };
    if (!probe) return all;
    const found = foundIn(namespaces) ?? [];
    return { ...all, probe: await makeProbe(client, { namespaces: found, policy, ownNamespace }) };
  } finally {
    stop.abort();
  }
}

/** The configuration of the installation; the built-in one, and why, where that cannot be used. */
async function findConfiguration(client: ApiClient, namespace: string): Promise<ConfigurationFacts> {
  try {
    return await installedPolicy(client, namespace);
  } catch (error) {
    // one that is wrong is a finding, and so is a right that is missing; a cluster that does not answer is neither
    const isFinding =
      error instanceof CniGateError &&
      (error.code === 'CNI_GATE_CLUSTER_FORBIDDEN' || error.code.startsWith('CNI_GATE_CONFIG_'));
    if (!isFinding) throw error;
    const right = error instanceof ClusterError ? error.missingRight : undefined;
    const trouble = { code: error.code, message: error.message, ...(right !== undefined && { right }) };
    return { policy: readPolicy(undefined), source: 'the built-in profiles', trouble };
  }
}

/** The DaemonSets that profiles name and that exist; as one where one of them may not be read. */
function readDaemonSets(reader: ClusterReader, policy: Policy): Promise<Observation<DaemonSetFacts[]>> {
  const read = async (): Promise<DaemonSetFacts[]> => {
    const found: DaemonSetFacts[] = [];
    await eachOf(daemonSetSources(policy).values(), async (source) => {
      found.push(...(await reader.list(source)).map(({ facts }) => facts));
    });
    return found;
  };
  return observe(read(), 'DaemonSets');
}

/** The rights of the service account that the Deployment names. */
async function readServerRights(
  reader: ClusterReader,
  namespace: string,
  policy: Policy,
): Promise<Pick<InstalledFacts, 'account' | 'serverRights'>> {
  const path = apiPath`/apis/apps/v1/namespaces/${namespace}/deployments/${installedDeployment}`;
  const deployment = await reader.get<ApiDeployment>(
    path,
    'the Deployment, which names its service account,',
  );
  if (deployment === 'absent' || 'unknown' in deployment) return { account: '', serverRights: deployment };
  const { found } = deployment;
  const name = found.spec.template.spec?.serviceAccountName ?? 'default';
  const account = `${namespace}/${name}`;
  const serving = servingSecret(found);
  const secret = serving?.isAuthority ? serving.name : undefined;
  const rights = serverRights({ namespace, policy, secret });
  return { account, serverRights: await rightsOf(reader, { namespace, name }, rights) };
}
