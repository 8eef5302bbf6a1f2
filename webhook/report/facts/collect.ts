import type { ApiClient } from '../../cluster/client.ts';
import {
  agentSources,
  type DaemonSetSnapshot,
  daemonSetSources,
  nodeSource,
} from '../../cluster/view/sources.ts';
import { CniGateError } from '../../lib/errors.ts';
import { clusterIdentity } from './cluster-identity.ts';
import { type FoundPolicy, usablePolicy } from './configuration.ts';
import { readEnvironment, readVersion } from './environment.ts';
import { readInstallation } from './installation.ts';
import type { CheckFacts, Facts, StatusFacts } from './model.ts';
import { serverRights } from './needed-rights.ts';
import { foundIn, mapObservation, type Observation, observe } from './observation.ts';
import { podEvents } from './pod-events.ts';
import { makeProbe } from './probe.ts';
import { type ClusterReader, listEach, withReader } from './reader.ts';
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

/**
 * Reads all that a check of an installation is about. What may not be read is in the facts.
 *
 * @throws ClusterError where the cluster does not answer
 */
export const readCheck = (client: ApiClient, options: CollectOptions): Promise<CheckFacts> =>
  withReader(client, async (reader) => {
    const { facts } = await readFacts(reader, options, observe);
    const [environment, rights] = await Promise.all([
      readEnvironment(reader),
      readServerRights(reader, facts),
    ]);
    const { clockSkew } = client;
    return {
      ...facts,
      ...environment,
      clockSkew,
      serverRights: rights,
      ...(await probed(reader, facts, options)),
    };
  });

/**
 * Reads all that a status is made of.
 *
 * @param history what earlier readings showed of the nodes
 * @throws CniGateError where the cluster does not answer, a right is missing, or the namespace does not exist
 */
export const readStatus = (
  client: ApiClient,
  options: CollectOptions,
  history = new ReadinessHistory(),
): Promise<StatusFacts> =>
  withReader(client, async (reader) => {
    const { facts, snapshots } = await readFacts(reader, options, requiringRights);
    const { namespace, ownNamespace } = options;
    const { policy } = facts.configuration;
    const namespaces = foundIn(facts.namespaces) ?? [];
    if (namespace !== undefined && namespaces.length === 0)
      throw new CniGateError('CNI_GATE_CLUSTER_NOT_FOUND', `the cluster has no namespace ${namespace}`);
    const [nodes, agents, pods] = await Promise.all([
      reader.list(nodeSource),
      listEach(reader, agentSources(snapshots, policy).values()),
      listEach(reader, podSources(namespaces, { policy, ownNamespace })),
    ]);
    const daemonSets = snapshots.map((one) => one.facts);
    return {
      ...facts,
      namespace,
      readiness: history.update({ nodes, daemonSets, agents }, Date.now()),
      pods,
      events: await podEvents(reader, { policy, pods }),
      ...(await probed(reader, facts, options)),
    };
  });

/** Reads the installation and what its profiles are about. @param see how lists are read */
async function readFacts(
  reader: ClusterReader,
  { ownNamespace, given, namespace }: CollectOptions,
  see: Seeing,
): Promise<{ facts: Facts; snapshots: DaemonSetSnapshot[] }> {
  const { client } = reader;
  // also what makes an API server that is gone an error of one request, and not of many
  const version = await readVersion(reader);
  const [configuration, registered, namespaces] = await Promise.all([
    given ?? usablePolicy(client, ownNamespace, see === observe),
    readRegistered(reader),
    see(reader.list(optInSource(namespace)), 'namespaces'),
  ]);
  const [installation, daemonSets] = await Promise.all([
    readInstallation(reader, { registered, ownNamespace }),
    see(listEach(reader, daemonSetSources(configuration.policy).values()), 'DaemonSets'),
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
  { client }: ClusterReader,
  { namespaces, configuration: { policy } }: Facts,
  { probe, ownNamespace }: CollectOptions,
): Promise<Pick<Facts, 'probe'>> {
  if (!probe) return {};
  return { probe: await makeProbe(client, { namespaces: foundIn(namespaces) ?? [], policy, ownNamespace }) };
}

/** Reads the rights of the service account that the Deployment names. */
async function readServerRights(
  reader: ClusterReader,
  { installation: { namespace, deployment }, configuration: { policy } }: Facts,
): Promise<CheckFacts['serverRights']> {
  if (deployment === 'absent' || 'unknown' in deployment) return deployment;
  const { account, secret } = deployment.found;
  const managed = secret?.isAuthority ? secret.name : undefined;
  return rightsOf(reader, { namespace, name: account }, serverRights({ namespace, policy, secret: managed }));
}
