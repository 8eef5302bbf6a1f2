import type { ApiObject } from '../../cluster/informer/object.ts';
import type { Source } from '../../cluster/informer/source.ts';
import type { Lease } from '../../cluster/lease/lease.ts';
import { type ApiVersion, leastVersion, usesNominations } from '../../leader/nominate/eligibility.ts';
import { nodes, objectBytes } from '../../lib/limits.ts';
import type { EnvironmentFacts, Heartbeat, NodeBrief, VersionFacts } from './model.ts';
import { mapObservation, type Observation, observe } from './observation.ts';
import { atMost, type ClusterReader, eachOf } from './reader.ts';

type ApiNode = ApiObject & {
  status?: {
    conditions?: { type: string; status: string }[] | null;
    nodeInfo?: { operatingSystem?: string; architecture?: string } | null;
  } | null;
};

const nodeSource: Source<ApiNode, NodeBrief> = {
  resource: 'nodes',
  path: '/api/v1/nodes',
  objectBytes: objectBytes.node,
  pick: ({ metadata, status }) => ({
    name: metadata.name,
    ready: (status?.conditions ?? []).some(({ type, status: is }) => type === 'Ready' && is === 'True'),
    os: status?.nodeInfo?.operatingSystem ?? '',
    architecture: status?.nodeInfo?.architecture ?? '',
  }),
  retention: atMost(nodes.max.count),
};

/** The Leases by which kubelets show that they live: each has the name of its node. */
const heartbeatSource = (clockSkew: () => number): Source<ApiObject & Lease, Heartbeat> => ({
  resource: 'leases of nodes',
  path: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
  pick: ({ metadata, spec }) => ({
    node: String(metadata.name),
    renewed: Date.parse(spec?.renewTime ?? '') - clockSkew(),
  }),
  retention: atMost(nodes.max.count),
});

/**
 * The resources that cni-gate uses of each group and version of the API, without which the manifests cannot be applied
 * or the replicas do not work. All are on by default.
 */
export const neededApis: Readonly<Record<string, readonly string[]>> = {
  'admissionregistration.k8s.io/v1': [
    'mutatingwebhookconfigurations',
    'validatingwebhookconfigurations',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
  ],
  'apps/v1': ['daemonsets', 'deployments', 'replicasets'],
  'coordination.k8s.io/v1': ['leases'],
  'discovery.k8s.io/v1': ['endpointslices'],
  'events.k8s.io/v1': ['events'],
  'policy/v1': ['poddisruptionbudgets'],
  'rbac.authorization.k8s.io/v1': ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'],
};

/** Reads the version of the API server. @throws ClusterError where the cluster does not answer */
export const readVersion = async (reader: ClusterReader): Promise<Observation<VersionFacts>> =>
  mapObservation(await reader.get<ApiVersion>('/version', 'the version'), versionFacts);

/** Reads the cluster around an installation. @throws ClusterError where the cluster does not answer */
export async function readEnvironment(reader: ClusterReader): Promise<Omit<EnvironmentFacts, 'version'>> {
  const { client } = reader;
  const [found, heartbeats, apis] = await Promise.all([
    observe(reader.list(nodeSource), 'nodes'),
    observe(reader.list(heartbeatSource(() => client.clockSkew)), 'the Leases of nodes'),
    readApis(reader),
  ]);
  return {
    nodes: found,
    heartbeats: mapObservation(heartbeats, (all) => all.filter(({ renewed }) => !Number.isNaN(renewed))),
    apis,
    clockSkew: client.clockSkew,
  };
}

/** Numbers such as `36+` are those of some providers. */
const versionFacts = (version: ApiVersion): VersionFacts => ({
  major: Number.parseInt(version.major, 10),
  minor: Number.parseInt(version.minor, 10),
  text: version.gitVersion,
  usesNominations: usesNominations(version),
  nominationsFrom: leastVersion,
});

async function readApis(reader: ClusterReader): Promise<EnvironmentFacts['apis']> {
  const apis = new Map<string, Observation<readonly string[]>>();
  await eachOf(Object.keys(neededApis), async (version) => {
    const found = await reader.get<{ resources?: { name: string }[] }>(`/apis/${version}`, `API ${version}`);
    apis.set(
      version,
      mapObservation(found, ({ resources }) => (resources ?? []).map(({ name }) => name)),
    );
  });
  return apis;
}
