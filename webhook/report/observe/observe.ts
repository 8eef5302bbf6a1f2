import type { V1LimitRangeItem } from '@kubernetes/client-node';
import type { ApiClient } from '../../cluster/client.ts';
import type { ApiObject } from '../../cluster/informer/object.ts';
import { agentSources, daemonSetSources, namespaceSource, nodeSource } from '../../cluster/view/sources.ts';
import { optedInTo } from '../../core/facts/namespace.ts';
import { Readiness } from '../../core/networks/readiness.ts';
import type { ApiVersion } from '../../leader/steering/version.ts';
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
import { installRights, type RightsFacts, rightsOf, serverRights } from './rights.ts';

/** What to observe, and how. */
export interface ObserveOptions {
  /** The namespace of cni-gate. */
  ownNamespace: string;
  /** A configuration from a file, to use instead of the ConfigMap's. */
  given: FoundPolicy | undefined;
  /** Reads only this namespace, instead of all that opted in. */
  namespace?: string | undefined;
  /** Whether to create a pod as a dry run, to see what admission returns. */
  probe: boolean;
}

/** Reads what a command must have: a missing right is an error here, and an observation in {@link observed}. */
const required: typeof observed = async (asked) => ({ found: await asked });

/** The facts that every command reads. */
type BaseFacts = Awaited<ReturnType<typeof readBase>>['facts'];
/** The facts that `check --pre` reads. */
export type PreFacts = Awaited<ReturnType<typeof observeBefore>>;
/** The facts that `check` reads. */
export type CheckFacts = Awaited<ReturnType<typeof observeInstallation>>;
/** The facts that `status` and `dashboard` read. */
export type StatusFacts = Awaited<ReturnType<typeof observeStatus>>;

/** The facts that a command read once. A fact that the command does not need is absent. */
export type Facts = BaseFacts &
  Partial<Omit<PreFacts & CheckFacts & Omit<StatusFacts, 'pods'>, keyof BaseFacts>>;

/** The cluster, and the versions of cni-gate here and in the cluster. Every JSON output has them as `cluster`. */
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
  return { ...facts, serverRights, pods, limits, probe: await probed(client, facts, options) };
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
  return { ...facts, namespace, readiness, pods: { found: pods }, events, probe };
}

/** Reads the installation, the namespaces and the profiles' DaemonSets. @param see `observed` or `required` */
async function readBase(
  client: ApiClient,
  { ownNamespace, given, namespace }: ObserveOptions,
  see: typeof observed,
) {
  // read first, so that an unreachable API server yields one error instead of many
  const version = await readOne<ApiVersion>(client, '/version', 'the version');
  const registered = await readRegistered(client);
  const installed = calledService(registered)?.namespace ?? ownNamespace;
  const optIns = {
    resource: 'namespaces',
    path: namespaceSource.path,
    // a namespace that the caller named is read even if it did not opt in
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
  // the client knows the server's address only after the first answer
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

const probed = async (
  client: ApiClient,
  { namespaces, configuration: { policy }, registered, installation }: BaseFacts,
  { probe, ownNamespace }: ObserveOptions,
): Promise<ProbeFacts | undefined> => {
  if (!probe) return undefined;
  const hasPolicy = installation.policies.mutating.binding.found !== undefined;
  const hasServer = (registered.mutating ?? []).length > 0;
  return makeProbe(client, namespaces.found ?? [], policy, ownNamespace, hasPolicy && hasServer);
};

async function readServerRights(
  client: ApiClient,
  { installation, configuration: { policy } }: BaseFacts,
): Promise<Observation<RightsFacts>> {
  const { namespace, deployment } = installation;
  const { found, unknown } = deployment;
  if (found === undefined) return unknown ? { unknown } : {};
  const serving = servingSecret(found);
  const rights = serverRights(namespace, policy, serving?.isAuthority ? serving.name : undefined);
  const asked = rightsOf(client, rights, { namespace, name: accountIn(found) });
  return observed(asked, 'the rights of the service account');
}

/** A LimitRange or a ResourceQuota: the fields that are read. */
export interface LimitFacts {
  kind: string;
  metadata: { namespace?: string; name: string };
  spec?: { limits?: V1LimitRangeItem[]; hard?: Record<string, string> };
}

const limitSources = ['LimitRange', 'ResourceQuota'].map((kind) => ({
  resource: `${kind.toLowerCase()}s`,
  path: `/api/v1/${kind.toLowerCase()}s`,
  // the objects of a list do not have their kind
  pick: ({ metadata, spec = {} }: ApiObject & Omit<LimitFacts, 'kind'>): LimitFacts => ({
    kind,
    metadata,
    spec,
  }),
}));
