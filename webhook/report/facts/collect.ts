import type { ApiClient } from '../../cluster/client.ts';
import { agentSources, daemonSetSources, nodeSource } from '../../cluster/view/sources.ts';
import { CniGateError } from '../../lib/errors.ts';
import { clusterIdentity } from './cluster-identity.ts';
import { type FoundPolicy, usablePolicy } from './configuration.ts';
import { readEnvironment, readVersion } from './environment.ts';
import { readInstallation } from './installation.ts';
import { serverRights } from './needed-rights.ts';
import { foundIn, mapObservation, type Observation, observe } from './observation.ts';
import { podEvents } from './pod-events.ts';
import { makeProbe, type ProbeFacts } from './probe.ts';
import { readList, readLists } from './reader.ts';
import { ReadinessHistory } from './readiness-history.ts';
import { rightsOf } from './rights.ts';
import { optInSource, podSources } from './sources.ts';
import { readRegistered } from './webhooks.ts';

/** What is read. */
export interface CollectOptions {
  /** Of cni-gate. */
  ownNamespace: string;
  /** A configuration from a file, instead of the ConfigMap. */
  given: FoundPolicy | undefined;
  /** Of the namespaces that opted in, only this one. */
  namespace?: string | undefined;
  /** Whether to create a pod as a dry run. */
  probe: boolean;
}

/** Reads what a list is about: as an answer if a right is missing, or not at all. */
type Seeing = <T>(asked: Promise<T>, what: string) => Promise<Observation<T>>;

const requiringRights: Seeing = async (asked) => ({ found: await asked });

/** What a check of an installation is made of. */
export type CheckFacts = Awaited<ReturnType<typeof readCheck>>;

/**
 * Reads all that a check of an installation is about. What may not be read is in the facts.
 *
 * @throws ClusterError where the cluster does not answer
 */
export async function readCheck(client: ApiClient, options: CollectOptions) {
  const { facts } = await readFacts(client, options, observe);
  const [environment, rights] = await Promise.all([readEnvironment(client), readServerRights(client, facts)]);
  return { ...facts, ...environment, serverRights: rights, ...(await probed(client, facts, options)) };
}

/** What a status is made of. */
export type StatusFacts = Awaited<ReturnType<typeof readStatus>>;

/**
 * Reads all that a status is made of.
 *
 * @param history what earlier readings showed of the nodes
 * @throws CniGateError where the cluster does not answer, a right is missing, or the namespace does not exist
 */
export async function readStatus(
  client: ApiClient,
  options: CollectOptions,
  history = new ReadinessHistory(),
) {
  const { facts, snapshots } = await readFacts(client, options, requiringRights);
  const { namespace, ownNamespace } = options;
  const { policy } = facts.configuration;
  const namespaces = foundIn(facts.namespaces) ?? [];
  if (namespace !== undefined && namespaces.length === 0)
    throw new CniGateError('CNI_GATE_CLUSTER_NOT_FOUND', `the cluster has no namespace ${namespace}`);
  const [nodes, agents, pods] = await Promise.all([
    readList(client, nodeSource),
    readLists(client, agentSources(snapshots, policy).values()),
    readLists(client, podSources(namespaces, { policy, ownNamespace })),
  ]);
  const daemonSets = snapshots.map((one) => one.facts);
  return {
    ...facts,
    // the only one that was asked about: the pods of others are not known
    namespace,
    readiness: history.update({ nodes, daemonSets, agents }, Date.now()),
    pods,
    events: await podEvents(client, { policy, pods }),
    ...(await probed(client, facts, options)),
  };
}

/** What is read of an installation in any case. */
export type Facts = Awaited<ReturnType<typeof readFacts>>['facts'] & Awaited<ReturnType<typeof probed>>;

/** Reads the installation and what its profiles are about. @param see how lists are read */
async function readFacts(client: ApiClient, { ownNamespace, given, namespace }: CollectOptions, see: Seeing) {
  // also what makes an API server that is gone an error of one request, and not of many
  const version = await readVersion(client);
  const [configuration, registered, namespaces] = await Promise.all([
    given ?? usablePolicy(client, ownNamespace, see === observe),
    readRegistered(client),
    see(readList(client, optInSource(namespace)), 'namespaces'),
  ]);
  const [installation, daemonSets] = await Promise.all([
    readInstallation(client, registered, ownNamespace),
    see(readLists(client, daemonSetSources(configuration.policy).values()), 'DaemonSets'),
  ]);
  const facts = {
    cluster: clusterIdentity(client, installation.deployment),
    version,
    configuration,
    registered,
    installation,
    namespaces,
    daemonSets: mapObservation(daemonSets, (all) => all.map((one) => one.facts)),
  };
  return { facts, snapshots: foundIn(daemonSets) ?? [] };
}

/** Makes the probe if it was asked for. */
async function probed(
  client: ApiClient,
  { namespaces, configuration: { policy } }: Awaited<ReturnType<typeof readFacts>>['facts'],
  { probe, ownNamespace }: CollectOptions,
): Promise<{ probe?: ProbeFacts | undefined }> {
  if (!probe) return {};
  return { probe: await makeProbe(client, foundIn(namespaces) ?? [], policy, ownNamespace) };
}

/** Reads the rights of the service account that the Deployment names. */
async function readServerRights(
  client: ApiClient,
  {
    installation: { namespace, deployment },
    configuration: { policy },
  }: Pick<Facts, 'installation' | 'configuration'>,
): Promise<Awaited<ReturnType<typeof rightsOf>>> {
  if (deployment === 'absent' || 'unknown' in deployment) return deployment;
  const { account, secret } = deployment.found;
  const managed = secret?.isAuthority ? secret.name : undefined;
  return rightsOf(client, { namespace, name: account }, serverRights({ namespace, policy, secret: managed }));
}
