import type { V1APIService, V1Lease, V1Pod } from '@kubernetes/client-node';
import { apiPath } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
import type { ApiObject } from '../../cluster/informer/object.ts';
import { type ApiVersion, usesNominations } from '../../leader/nominate/eligibility.ts';
import { nodes } from '../../lib/limits.ts';
import { atMost, mapObservation, type Observation, observe, readList, readOne } from './observation.ts';

/* What is read of a cluster around an installation. */

/** The Leases by which kubelets show that they live: each has the name of its node. */
const heartbeatSource = (client: ApiClient) => ({
  resource: 'leases of nodes',
  path: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
  pick: ({ metadata, spec }: ApiObject & Pick<V1Lease, 'spec'>) => ({
    node: metadata.name,
    // moved to our own clock
    renewed: Date.parse(String(spec?.renewTime)) - client.clockSkew,
  }),
  retention: atMost(nodes.max.count),
});

/** What an API server says of its version. */
export type VersionFacts = ReturnType<typeof versionFacts>;

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

/** What is read of a cluster, installed or not. */
export type EnvironmentFacts = Awaited<ReturnType<typeof readEnvironment>> & {
  version: Observation<VersionFacts>;
};

/** Reads the cluster around an installation. @throws ClusterError where the cluster does not answer */
export async function readEnvironment(client: ApiClient) {
  const heartbeats = await observe(readList(client, heartbeatSource(client)), 'the Leases of nodes');
  return {
    heartbeats: mapObservation(heartbeats, (all) => all.filter(({ renewed }) => !Number.isNaN(renewed))),
  };
}

/** API servers, and APIs that Services serve: their writers administer the cluster. */
const retention = atMost<object>(1000);

/** Flags of the API servers that kubeadm and others run as static pods. Elsewhere they are not visible. */
export const apiServerSource = {
  resource: 'pods of the API server',
  path: apiPath`/api/v1/namespaces/${'kube-system'}/pods`,
  query: { labelSelector: 'component=kube-apiserver' },
  pick: ({ spec }: ApiObject & Pick<V1Pod, 'spec'>) =>
    (spec?.containers ?? []).flatMap(({ command = [], args = [] }) => [...command, ...args]),
  retention,
};

/** APIs that Services of the cluster serve, which the API server calls as it calls webhooks. */
export const servedApiSource = {
  resource: 'apiservices',
  path: '/apis/apiregistration.k8s.io/v1/apiservices',
  pick: ({ metadata, spec, status }: ApiObject & Pick<V1APIService, 'spec' | 'status'>) => {
    if (!spec?.service) return [];
    const condition = status?.conditions?.find(({ type }) => type === 'Available');
    const service = `${spec.service.namespace}/${spec.service.name}`;
    const [available, message] = [condition?.status === 'True', condition?.message ?? ''];
    return [{ name: metadata.name, service, available, message }];
  },
  retention,
};
