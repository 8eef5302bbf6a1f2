import type { V1LimitRangeItem } from '@kubernetes/client-node';
import type { ApiClient } from '../../cluster/client.ts';
import type { ApiObject } from '../../cluster/informer/object.ts';
import { agentSources, daemonSetSources, namespaceSource, nodeSource } from '../../cluster/view/sources.ts';
import { optedInTo } from '../../core/facts/namespace.ts';
import { Readiness } from '../../core/networks/readiness.ts';
import { type ApiVersion, usesNominations } from '../../leader/steering/eligibility.ts';
import { CniGateError } from '../../lib/errors.ts';
import { profileLabel } from '../../lib/names.ts';
import { version as clientVersion } from '../../lib/version.ts';
import { builtInPolicy, type FoundPolicy, readConfiguration } from './configuration.ts';
import { podEvents } from './events.ts';
import {
  accountIn,
  calledService,
  readInstallation,
  readRegistered,
  servingSecret,
  versionIn,
} from './installation.ts';
import { mapFound, type Observation, observed, readLists, readOne } from './observation.ts';
import { type OptIn, podSources } from './pods.ts';
import { makeProbe, type ProbeFacts } from './probe.ts';
import { installRights, rightsOf, serverRights } from './rights.ts';

/** What is read. */
export interface ObserveOptions {
  /** Of cni-gate. */
  ownNamespace: string;
  /** A configuration from a file, instead of the ConfigMap. */
  given: FoundPolicy | undefined;
  /** Of the namespaces that opted in, only this one. */
  namespace?: string | undefined;
  /** Whether to create a pod as a dry run. */
  probe: boolean;
}

/** How a forbidden list is handled: recorded as an answer, or thrown. */
type Seeing = <T>(asked: Promise<T>, what: string) => Promise<Observation<T>>;

const required: Seeing = async (asked) => ({ found: await asked });

/** What every command reads. */
type BaseFacts = Awaited<ReturnType<typeof readBase>>['facts'] & { probe?: ProbeFacts | undefined };
/** What `check --pre` reads. */
export type PreFacts = Awaited<ReturnType<typeof observeBefore>>;
/** What `check` reads. */
export type CheckFacts = Awaited<ReturnType<typeof observeInstallation>>;
/** What `status` and `dashboard` read. */
export type StatusFacts = Awaited<ReturnType<typeof observeStatus>>;

/** What a command read of a cluster, once. What may not be read is in it as such; absent is what its command does not need. */
export type Facts = BaseFacts &
  Partial<Omit<PreFacts & CheckFacts & Omit<StatusFacts, 'pods'>, keyof BaseFacts>>;

/** Which cluster an output is about, and the versions of cni-gate on both sides. Every JSON output has it as `cluster`. */
export type ClusterIdentity = BaseFacts['cluster'];

/** Reads a cluster before an installation. @throws ClusterError where the cluster does not answer */
export async function observeBefore(
  client: ApiClient,
  options: Pick<ObserveOptions, 'ownNamespace' | 'given'>,
) {
  const { given = builtInPolicy() } = options;
  const { facts } = await readBase(client, { ...options, given, probe: false }, observed);
  return { ...facts, rights: await rightsOf(client, installRights()) };
}

/** Reads an installation. @throws ClusterError where the cluster does not answer */
export async function observeInstallation(client: ApiClient, options: ObserveOptions) {
  const { facts, podLists } = await readBase(client, options, observed);
  const [serverRights, pods, limits] = await Promise.all([
    readServerRights(client, facts),
    observed(readLists(client, podLists), 'pods'),
    observed(readLists(client, limitSources), 'LimitRanges and ResourceQuotas'),
  ]);
  return { ...facts, serverRights, pods, limits, ...(await probed(client, facts, options)) };
}

/**
 * Reads an installation, its nodes and pods.
 *
 * @throws CniGateError where the cluster does not answer, a right is missing, or the namespace does not exist
 */
export async function observeStatus(client: ApiClient, options: ObserveOptions) {
  const { facts, podLists, snapshots } = await readBase(client, options, required);
  const { namespace } = options;
  const { policy } = facts.configuration;
  if (namespace !== undefined && facts.namespaces.found?.length === 0)
    throw new CniGateError('CNI_GATE_CLUSTER_NOT_FOUND', `the cluster has no namespace ${namespace}`);
  const [nodes, agents, pods] = await Promise.all([
    readLists(client, [nodeSource]),
    readLists(client, agentSources(snapshots, policy).values()),
    readLists(client, podLists),
  ]);
  const readiness = new Readiness();
  const now = Date.now();
  for (const node of nodes) readiness.setNode(node, now);
  for (const snapshot of snapshots) readiness.setDaemonSet(snapshot.facts);
  for (const agent of agents) readiness.setAgent(agent);
  const events = await podEvents(client, policy, pods);
  const probe = await probed(client, facts, options);
  return { ...facts, namespace, readiness, pods: { found: pods }, events, ...probe };
}

/** Reads the installation and what its profiles are about. @param see how lists are read */
async function readBase(client: ApiClient, { ownNamespace, given, namespace }: ObserveOptions, see: Seeing) {
  // first, so an unreachable API server yields one error instead of many
  const version = mapFound(await readOne<ApiVersion>(client, '/version', 'the version'), versionFacts);
  const registered = await readRegistered(client);
  const installed = calledService(registered)?.namespace ?? ownNamespace;
  const optIns = {
    resource: 'namespaces',
    path: namespaceSource.path,
    // one namespace, whether it opted in or not
    query:
      namespace === undefined
        ? { labelSelector: profileLabel }
        : { fieldSelector: `metadata.name=${namespace}` },
    pick: ({ metadata: { name, labels } }: ApiObject): OptIn => ({ name, profile: optedInTo(labels ?? {}) }),
  };
  const [configuration, namespaces] = await Promise.all([
    given ?? readConfiguration(client, installed, see === observed),
    see(readLists(client, [optIns]), 'namespaces'),
  ]);
  const { policy } = configuration;
  const [installation, daemonSets] = await Promise.all([
    readInstallation(client, registered, ownNamespace),
    see(readLists(client, daemonSetSources(policy).values()), 'DaemonSets'),
  ]);
  const { found: deployment } = installation.deployment;
  // the client knows the address since its first answer
  const { context = null, server } = client;
  const serverVersion = (deployment && versionIn(deployment)) ?? null;
  const facts = {
    cluster: { context, server, clientVersion, serverVersion },
    version,
    configuration,
    registered,
    installation,
    namespaces,
    daemonSets: mapFound(daemonSets, (found) => found.map((snapshot) => snapshot.facts)),
  };
  const podLists = podSources(namespaces.found ?? [], { policy, ownNamespace });
  return { facts, podLists, snapshots: daemonSets.found ?? [] };
}

/** Some providers have numbers such as `36+`. */
const versionFacts = (version: ApiVersion) => ({
  major: Number.parseInt(version.major, 10),
  minor: Number.parseInt(version.minor, 10),
  text: version.gitVersion,
  usesNominations: usesNominations(version),
});

const probed = async (
  client: ApiClient,
  { namespaces, configuration: { policy } }: Pick<BaseFacts, 'namespaces' | 'configuration'>,
  { probe, ownNamespace }: ObserveOptions,
): Promise<{ probe?: ProbeFacts | undefined }> =>
  probe ? { probe: await makeProbe(client, namespaces.found ?? [], policy, ownNamespace) } : {};

async function readServerRights(
  client: ApiClient,
  { installation, configuration: { policy } }: Pick<BaseFacts, 'installation' | 'configuration'>,
): Promise<Observation<Awaited<ReturnType<typeof rightsOf>>>> {
  const { namespace, deployment } = installation;
  const { found, unknown } = deployment;
  if (found === undefined) return unknown ? { unknown } : {};
  const serving = servingSecret(found);
  const rights = serverRights(namespace, policy, serving?.isAuthority ? serving.name : undefined);
  const asked = rightsOf(client, rights, { namespace, name: accountIn(found) });
  return observed(asked, 'the rights of the service account');
}

/** What a LimitRange or a ResourceQuota asks of the containers of a namespace. */
export interface LimitFacts {
  namespace: string | undefined;
  /** Its kind and name. */
  object: string;
  /** Of a LimitRange: its limits of type Container. */
  containers: Partial<V1LimitRangeItem>[];
  /** Of a ResourceQuota. */
  hard: Record<string, string>;
}

const limitSources = ['LimitRange', 'ResourceQuota'].map((kind) => ({
  resource: `${kind.toLowerCase()}s`,
  path: `/api/v1/${kind.toLowerCase()}s`,
  pick: ({ metadata: { namespace, name }, spec }: ApiObject & ApiLimit): LimitFacts => ({
    namespace,
    object: `${kind} ${name}`,
    containers: spec?.limits?.filter(({ type }) => type === 'Container') ?? [],
    hard: spec?.hard ?? {},
  }),
}));

/** The parts of both kinds that are read, as the API gives them. */
interface ApiLimit {
  spec?: { limits?: V1LimitRangeItem[]; hard?: Record<string, string> };
}
