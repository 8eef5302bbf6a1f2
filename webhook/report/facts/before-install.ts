import { exemption } from '../../admission/mutate/exempt.ts';
import { applies, optedInTo } from '../../admission/mutate/profile-selection.ts';
import type { Pod } from '../../admission/pod.ts';
import { apiPath } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
import type { ApiObject } from '../../cluster/informer/object.ts';
import { daemonSetSources } from '../../cluster/view/sources.ts';
import type { Policy } from '../../config/policy.ts';
import { namespaces as namespaceLimits, objectBytes } from '../../lib/limits.ts';
import { clusterIdentity } from './cluster-identity.ts';
import { readEnvironment, readVersion } from './environment.ts';
import { readInstallation } from './installation.ts';
import { installRights } from './needed-rights.ts';
import { foundIn, mapObservation, type Observation, observe } from './observation.ts';
import { atMost, readList, readLists, readOne } from './reader.ts';
import { ownRights } from './rights.ts';
import { readRegistered } from './webhooks.ts';

/** API servers, and APIs that Services serve: their writers administer the cluster. */
const mostObjects = 1000;

/** What a check before an installation is asked for. */
export interface PreOptions {
  /** Of cni-gate. */
  ownNamespace: string;
  policy: Policy;
  /** Where the policy is from. */
  source: string;
}

/** What is read before an installation. */
export type PreFacts = Awaited<ReturnType<typeof readPre>>;

/**
 * Reads all that a check before an installation is about. What may not be read is in the facts.
 *
 * @throws ClusterError where the cluster does not answer
 */
export async function readPre(client: ApiClient, { ownNamespace, policy, source }: PreOptions) {
  // also what makes an API server that is gone an error of one request, and not of many
  const version = await readVersion(client);
  const [environment, registered, priorityClass, rights, apiServers, servedApis, daemonSets, namespaces] =
    await Promise.all([
      readEnvironment(client),
      readRegistered(client),
      readOne(
        client,
        apiPath`/apis/scheduling.k8s.io/v1/priorityclasses/${'system-cluster-critical'}`,
        'PriorityClasses',
      ),
      ownRights(client, installRights()),
      observe(readList(client, apiServerSource), 'the pods of the API server'),
      observe(readList(client, servedApiSource), 'APIServices'),
      observe(readLists(client, daemonSetSources(policy).values()), 'DaemonSets'),
      observe(readList(client, namespaceSource), 'namespaces'),
    ]);
  const installation = await readInstallation(client, registered, ownNamespace);
  return {
    ...environment,
    version,
    cluster: clusterIdentity(client, installation.deployment),
    ownNamespace,
    policy,
    source,
    registered,
    installation,
    rights,
    apiServers,
    daemonSets: mapObservation(daemonSets, (all) =>
      all.map(({ facts: { namespace, name } }) => ({ namespace, name })),
    ),
    namespaces,
    used: await readUsed(client, policy, ownNamespace, namespaces),
    priorityClass: mapObservation(priorityClass, (): true => true),
    servedApis: mapObservation(servedApis, (found) => found.flat()),
  };
}

type ApiServerPod = ApiObject & {
  spec?: { containers?: { command?: string[] | null; args?: string[] | null }[] | null } | null;
};

/** Flags of the API servers that kubeadm and others run as static pods. Elsewhere they are not visible. */
const apiServerSource = {
  resource: 'pods of the API server',
  path: apiPath`/api/v1/namespaces/${'kube-system'}/pods`,
  query: { labelSelector: 'component=kube-apiserver' },
  pick: ({ spec }: ApiServerPod) =>
    (spec?.containers ?? []).flatMap(({ command, args }) => [...(command ?? []), ...(args ?? [])]),
  retention: atMost<string[]>(mostObjects),
};

type ApiService = ApiObject & {
  spec?: { service?: { namespace?: string; name?: string } | null } | null;
  status?: { conditions?: { type: string; status: string; message?: string }[] | null } | null;
};

/** APIs that Services of the cluster serve, which the API server calls as it calls webhooks. */
const servedApiSource = {
  resource: 'apiservices',
  path: '/apis/apiregistration.k8s.io/v1/apiservices',
  pick: ({ metadata, spec, status }: ApiService) => {
    if (!spec?.service) return [];
    const condition = (status?.conditions ?? []).find(({ type }) => type === 'Available');
    const service = `${spec.service.namespace}/${spec.service.name}`;
    const [available, message] = [condition?.status === 'True', condition?.message ?? ''];
    return [{ name: metadata.name, service, available, message }];
  },
  retention: atMost<object>(mostObjects),
};

const namespaceSource = {
  resource: 'namespaces',
  path: '/api/v1/namespaces',
  objectBytes: objectBytes.namespace,
  pick: ({ metadata: { name, labels } }: ApiObject) => ({
    name,
    profile: optedInTo(labels ?? {}),
    labels: labels ?? {},
  }),
  retention: atMost<object>(namespaceLimits.max.count),
};

/** By namespace with a pod that is not exempt, the profiles that apply to one of its pods. */
async function readUsed(
  client: ApiClient,
  policy: Policy,
  ownNamespace: string,
  namespaces: Observation<{ name: string; labels: Record<string, string> }[]>,
): Promise<Observation<Map<string, Set<string>>>> {
  const used = new Map<string, Set<string>>();
  const labels = new Map(foundIn(namespaces)?.map((namespace) => [namespace.name, namespace.labels]));
  const pods = {
    resource: 'pods',
    path: '/api/v1/pods',
    pick: (pod: ApiObject & Pod) => {
      const { namespace = '', name } = pod.metadata;
      const request = { uid: '', namespace, name, operation: 'CREATE', subResource: '', dryRun: true, pod };
      if (exemption(request, policy.daemonSets, ownNamespace) !== undefined) return;
      const profiles = used.get(namespace) ?? new Set();
      used.set(namespace, profiles);
      for (const profile of policy.profiles.values())
        if (applies(profile, pod, labels.get(namespace))) profiles.add(profile.name);
    },
    // nothing of a pod is kept: there may be very many
    fits: () => false,
  };
  return mapObservation(await observe(readList(client, pods), 'pods'), () => used);
}
