import type { ApiClient } from '../../cluster/client.ts';
import type { ApiObject } from '../../cluster/informer/object.ts';
import { agentSources, daemonSetSources, namespaceSource, nodeSource } from '../../cluster/view/sources.ts';
import { Readiness } from '../../core/networks/readiness.ts';
import { CniGateError } from '../../lib/errors.ts';
import { profileLabel } from '../../lib/names.ts';
import { version as clientVersion } from '../../lib/version.ts';
import { readAttachments } from './attachments.ts';
import { builtInPolicy, type FoundPolicy, usablePolicy } from './configuration.ts';
import { accountIn, servingSecret, versionIn } from './deployment.ts';
import { calledService, type InstallationFacts, readInstallation, readRegistered } from './installation.ts';
import { readLimits } from './limits.ts';
import { foundIn, mapObservation, type Observation, observe, readList, readLists } from './observation.ts';
import { podEvents } from './pod-events.ts';
import { modeSources, type OptIn, optInOf, podSources } from './pods.ts';
import { makeProbe, type ProbeFacts } from './probe.ts';
import { installRights, ownRights, rightsOf, serverRights } from './rights.ts';
import { readVersion } from './version.ts';

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

/** What a check before an installation is made of. */
export type PreFacts = Awaited<ReturnType<typeof readPre>>;

/**
 * Reads all that a check before an installation is about. What may not be read is in the facts.
 *
 * @throws ClusterError where the cluster does not answer
 */
export async function readPre(client: ApiClient, options: Pick<CollectOptions, 'ownNamespace' | 'given'>) {
  const { given = builtInPolicy() } = options;
  const { facts } = await readFacts(client, { ...options, given, probe: false }, observe);
  return { ...facts, rights: await ownRights(client, installRights()) };
}

/** What a check of an installation is made of. */
export type CheckFacts = Awaited<ReturnType<typeof readCheck>>;

/**
 * Reads all that a check of an installation is about. What may not be read is in the facts.
 *
 * @throws ClusterError where the cluster does not answer
 */
export async function readCheck(client: ApiClient, options: CollectOptions) {
  const { facts } = await readFacts(client, options, observe);
  const [serverRights, attachments, pods, limits] = await Promise.all([
    readServerRights(client, facts),
    readAttachments(client),
    observe(readLists(client, modeSources(foundIn(facts.namespaces) ?? [])), 'pods'),
    readLimits(client),
  ]);
  return { ...facts, serverRights, attachments, pods, limits, ...(await probed(client, facts, options)) };
}

/** What a status is made of. */
export type StatusFacts = Awaited<ReturnType<typeof readStatus>>;

/**
 * Reads all that a status is made of.
 *
 * @throws CniGateError where the cluster does not answer, a right is missing, or the namespace does not exist
 */
export async function readStatus(client: ApiClient, options: CollectOptions) {
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
  const readiness = new Readiness();
  const now = Date.now();
  for (const one of nodes) readiness.setNode(one, now);
  for (const one of snapshots) readiness.setDaemonSet(one.facts);
  for (const one of agents) readiness.setAgent(one);
  return {
    ...facts,
    // the only one that was asked about: the pods of others are not known
    namespace,
    readiness,
    pods,
    events: await podEvents(client, { policy, pods }),
    ...(await probed(client, facts, options)),
  };
}

/** What is read in any case. */
export type Facts = Awaited<ReturnType<typeof readFacts>>['facts'] & Awaited<ReturnType<typeof probed>>;

/** Reads the installation and what its profiles are about. @param see how lists are read */
async function readFacts(client: ApiClient, { ownNamespace, given, namespace }: CollectOptions, see: Seeing) {
  // also what makes an API server that is gone an error of one request, and not of many
  const version = await readVersion(client);
  const optIns = {
    resource: 'namespaces',
    path: namespaceSource.path,
    // one namespace, whether it opted in or not
    query:
      namespace === undefined
        ? { labelSelector: profileLabel }
        : { fieldSelector: `metadata.name=${namespace}` },
    pick: ({ metadata }: ApiObject): OptIn => optInOf(metadata),
  };
  const registered = await readRegistered(client);
  const installed = calledService(registered)?.namespace ?? ownNamespace;
  const [configuration, namespaces] = await Promise.all([
    given ?? usablePolicy(client, installed, see === observe),
    see(readList(client, optIns), 'namespaces'),
  ]);
  const [installation, daemonSets] = await Promise.all([
    readInstallation(client, registered, ownNamespace),
    see(readLists(client, daemonSetSources(configuration.policy).values()), 'DaemonSets'),
  ]);
  const facts = {
    cluster: clusterIdentity(client, installation),
    version,
    configuration,
    registered,
    installation,
    namespaces,
    daemonSets: mapObservation(daemonSets, (all) => all.map((one) => one.facts)),
  };
  return { facts, snapshots: foundIn(daemonSets) ?? [] };
}

/** Which cluster an output is about, and the versions of cni-gate on both sides. Every JSON output has it as `cluster`. */
export type ClusterIdentity = ReturnType<typeof clusterIdentity>;

/** @param client one that has got an answer: its address is known since the first request */
function clusterIdentity({ context, server }: ApiClient, { deployment }: InstallationFacts) {
  const found = foundIn(deployment);
  // null without an installation, without a tag, and where the Deployment may not be read
  const serverVersion = (found && versionIn(found)) ?? null;
  return { context: context ?? null, server, clientVersion, serverVersion };
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
  const name = accountIn(deployment.found);
  const serving = servingSecret(deployment.found);
  const secret = serving?.isAuthority ? serving.name : undefined;
  return rightsOf(client, { namespace, name }, serverRights({ namespace, policy, secret }));
}
