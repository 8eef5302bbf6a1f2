import type { ApiClient } from '../../cluster/client.ts';
import type { ApiObject } from '../../cluster/informer/object.ts';
import type { Lease } from '../../cluster/lease/lease.ts';
import { type ApiVersion, leastVersion, usesNominations } from '../../leader/nominate/eligibility.ts';
import { nodes, objectBytes } from '../../lib/limits.ts';
import { mapObservation, type Observation, observe } from './observation.ts';
import { atMost, mapEach, readList, readOne } from './reader.ts';

type ApiNode = ApiObject & {
  status?: {
    nodeInfo?: { operatingSystem?: string; architecture?: string } | null;
  } | null;
};

/** What is kept of a node. */
export type NodeBrief = ReturnType<typeof nodeSource.pick>;

const nodeSource = {
  resource: 'nodes',
  path: '/api/v1/nodes',
  objectBytes: objectBytes.node,
  pick: ({ metadata, status }: ApiNode) => ({
    name: metadata.name,
    os: status?.nodeInfo?.operatingSystem ?? '',
    architecture: status?.nodeInfo?.architecture ?? '',
  }),
  retention: atMost(nodes.max.count),
};

/** The Leases by which kubelets show that they live: each has the name of its node. */
const heartbeatSource = (client: ApiClient) => ({
  resource: 'leases of nodes',
  path: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
  pick: ({ metadata, spec }: ApiObject & Lease) => ({
    node: String(metadata.name),
    // moved to our own clock
    renewed: Date.parse(spec?.renewTime ?? '') - client.clockSkew,
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

/** What an API server says of its version. */
export type VersionFacts = ReturnType<typeof versionFacts>;

/** Reads the version of the API server. @throws ClusterError where the cluster does not answer */
export const readVersion = async (client: ApiClient) =>
  mapObservation(await readOne<ApiVersion>(client, '/version', 'the version'), versionFacts);

/** What is read of a cluster, installed or not. */
export type EnvironmentFacts = Awaited<ReturnType<typeof readEnvironment>> & {
  version: Observation<VersionFacts>;
};

/** Reads the cluster around an installation. @throws ClusterError where the cluster does not answer */
export async function readEnvironment(client: ApiClient) {
  const [nodesFound, heartbeats, apis] = await Promise.all([
    observe(readList(client, nodeSource), 'nodes'),
    observe(readList(client, heartbeatSource(client)), 'the Leases of nodes'),
    mapEach(Object.keys(neededApis), async (version) => {
      const found = await readOne<ApiResources>(client, `/apis/${version}`, `API ${version}`);
      const names: Observation<readonly string[]> = mapObservation(found, ({ resources }) =>
        (resources ?? []).map(({ name }) => name),
      );
      return [version, names] as const;
    }),
  ]);
  return {
    nodes: nodesFound,
    heartbeats: mapObservation(heartbeats, (all) => all.filter(({ renewed }) => !Number.isNaN(renewed))),
    // for each group and version that cni-gate uses: the resources that the API server serves
    apis: new Map(apis),
    clockSkew: client.clockSkew,
  };
}

interface ApiResources {
  resources?: { name: string }[];
}

/** Numbers such as `36+` are those of some providers. */
const versionFacts = (version: ApiVersion) => ({
  major: Number.parseInt(version.major, 10),
  minor: Number.parseInt(version.minor, 10),
  text: version.gitVersion,
  usesNominations: usesNominations(version),
  nominationsFrom: leastVersion,
});
