import type { ApiClient } from '../../cluster/client.ts';
import type { ApiObject } from '../../cluster/informer/object.ts';
import { agentSources, daemonSetSources, namespaceSource, nodeSource } from '../../cluster/view/sources.ts';
import { optedInTo } from '../../core/facts/namespace.ts';
import { Readiness } from '../../core/networks/readiness.ts';
import type { ApiVersion } from '../../leader/steering/version.ts';
import { CniGateError } from '../../lib/errors.ts';
import { profileLabel } from '../../lib/names.ts';
import { version as clientVersion } from '../../lib/version.ts';
import { type FoundPolicy, readConfiguration } from './configuration.ts';
import { readInstallation, versionIn } from './installation.ts';
import { type Observation, readLists, readOne } from './observation.ts';
import { type OptIn, podSources } from './pods.ts';
import { makeProbe } from './probe.ts';

/** What to observe, and how. */
export interface ObserveOptions {
  /** The namespace of cni-gate. */
  ownNamespace: string;
  /** A configuration from a file, to use instead of the ConfigMap's. */
  given?: FoundPolicy | undefined;
  /** The only namespace to read, instead of all namespaces that opted in. */
  namespace?: string | undefined;
  /** Whether to create pods as a dry run, to see what admission returns. */
  probe?: boolean | undefined;
}

/** Everything that a command reads from a cluster. */
export type Facts = Awaited<ReturnType<typeof observe>>;

/** Reads a cluster. @throws CniGateError where the cluster does not answer, or the namespace does not exist */
export async function observe(client: ApiClient, options: ObserveOptions) {
  const { given, namespace } = options;
  // read first, so that an unreachable API server yields one error instead of many
  const version = await readOne<ApiVersion>(client, '/version', 'the version');
  const installation = await readInstallation(client, options.ownNamespace);
  const ownNamespace = installation.namespace;
  const [configuration, namespaces] = await Promise.all([
    given ?? readConfiguration(client, ownNamespace),
    readLists(client, [optInSource(namespace)], 'namespaces'),
  ]);
  if (namespace !== undefined && namespaces.found?.length === 0)
    throw new CniGateError('CNI_GATE_CLUSTER_NOT_FOUND', `the cluster has no namespace ${namespace}`);
  const { policy } = configuration;
  const optIns = namespaces.found ?? [];
  const [daemonSets, nodes, listed] = await Promise.all([
    readLists(client, daemonSetSources(policy).values(), 'DaemonSets'),
    readLists(client, [nodeSource], 'nodes'),
    readLists(client, podSources(optIns, { policy, ownNamespace }), 'pods'),
  ]);
  const pods = namespaces.unknown ? { unknown: namespaces.unknown } : listed;
  const agents = await readLists(client, agentSources(daemonSets.found ?? [], policy).values(), 'pods');
  // the API server's time, because most times in objects are by its clock
  const now = Date.now() + client.clockSkew;
  const readiness = new Readiness();
  for (const node of nodes.found ?? []) readiness.setNode(node, now);
  for (const { facts } of daemonSets.found ?? []) readiness.setDaemonSet(facts);
  for (const agent of agents.found ?? []) readiness.setAgent(agent);
  const unknown = nodes.unknown ?? daemonSets.unknown ?? agents.unknown;
  const hasServer = (installation.mutating.found ?? []).length > 0;
  const asksServer = hasServer && installation.policies.mutating.binding.found !== undefined;
  const { found: deployment } = installation.deployment;
  const serverVersion = (deployment && versionIn(deployment)) ?? null;
  // the client knows the server's address only after the first answer
  const { context = null, server } = client;
  return {
    now,
    cluster: { context, server, clientVersion, serverVersion },
    version,
    configuration,
    installation,
    namespace,
    namespaces,
    daemonSets,
    readiness: (unknown ? { unknown } : { found: readiness }) as Observation<Readiness>,
    pods,
    probe: options.probe ? await makeProbe(client, optIns, policy, ownNamespace, asksServer) : undefined,
  };
}

/** The namespaces that opted in; or, with a name, only this namespace, even if it did not opt in. */
const optInSource = (namespace: string | undefined) => ({
  resource: 'namespaces',
  path: namespaceSource.path,
  query:
    namespace === undefined
      ? { labelSelector: profileLabel }
      : { fieldSelector: `metadata.name=${namespace}` },
  pick: ({ metadata: { name, labels } }: ApiObject): OptIn => ({
    name,
    profile: optedInTo(labels ?? {}),
    labels: labels ?? {},
  }),
});
