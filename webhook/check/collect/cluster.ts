import type { Lease } from '../../kubernetes/lease/move.ts';
import type { ApiObject } from '../../kubernetes/reflector/object.ts';
import type { Source } from '../../kubernetes/reflector/source.ts';
import { nodes, objectBytes } from '../../lib/limits.ts';
import { type ClusterReader, eachOf, observe } from '../../status/collect/reader.ts';
import type { Observation } from '../../status/installation/facts.ts';
import { mapObservation } from '../../status/installation/facts.ts';
import { type ApiVersion, leastVersion, usesNominations } from '../../steer/eligibility.ts';
import type { ClusterFacts, Heartbeat, NodeBrief, VersionFacts } from '../facts.ts';
import { neededApis } from '../kubernetes.ts';
import { atMost } from './bounded.ts';

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
  keeping: atMost(nodes.max.count),
};

/** The Leases by which kubelets show that they live: each has the name of its node. */
const heartbeatSource = (clockSkew: () => number): Source<ApiObject & Lease, Heartbeat> => ({
  resource: 'leases of nodes',
  path: '/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases',
  pick: ({ metadata, spec }) => ({
    node: String(metadata.name),
    renewed: Date.parse(spec?.renewTime ?? '') - clockSkew(),
  }),
  keeping: atMost(nodes.max.count),
});

/** Reads what every check is about, installed or not. @throws ClusterError where the cluster does not answer */
export async function readCluster(reader: ClusterReader): Promise<Omit<ClusterFacts, 'cluster'>> {
  const { client } = reader;
  // also what makes an API server that is gone an error of one request, and not of many
  const version = mapObservation(await reader.get<ApiVersion>('/version', 'the version'), versionFacts);
  const [found, heartbeats, apis] = await Promise.all([
    observe(reader.list(nodeSource), 'nodes'),
    observe(reader.list(heartbeatSource(() => client.clockSkew)), 'the Leases of nodes'),
    readApis(reader),
  ]);
  return {
    version,
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

async function readApis(reader: ClusterReader): Promise<ClusterFacts['apis']> {
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
