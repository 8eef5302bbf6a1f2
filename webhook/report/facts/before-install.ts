import { exemption } from '../../admission/mutate/exempt.ts';
import { applies, optedInTo } from '../../admission/mutate/profile-selection.ts';
import type { Pod } from '../../admission/pod.ts';
import { apiPath } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
import type { ApiObject } from '../../cluster/informer/object.ts';
import type { Source } from '../../cluster/informer/source.ts';
import { daemonSetSources } from '../../cluster/view/sources.ts';
import { configurationsPath } from '../../cluster/webhook-configurations.ts';
import type { Policy } from '../../config/policy.ts';
import type { DaemonSetRef } from '../../config/types.ts';
import { namespaces as namespaceLimits, objectBytes } from '../../lib/limits.ts';
import { clusterIdentity } from './cluster-identity.ts';
import { readEnvironment, readVersion } from './environment.ts';
import { readInstallation } from './installation.ts';
import type { NamespaceBrief, PreFacts, ServedApi } from './model.ts';
import { installRights } from './needed-rights.ts';
import { fittingProfiles, networksOf } from './networks.ts';
import { foundIn, mapObservation, observe, unknownIn } from './observation.ts';
import { atMost, type ClusterReader, listEach, withReader } from './reader.ts';
import { ownRights } from './rights.ts';
import { readRegistered } from './webhooks.ts';

/** DaemonSets of one name that are kept: any tenant may make some. */
const sameName = 20;
/** API servers, APIs that Services serve, and webhook configurations: their writers administer the cluster. */
const mostObjects = 1000;

/** What a check before an installation is asked for. */
export interface PreOptions {
  /** Of cni-gate. */
  ownNamespace: string;
  policy: Policy;
  /** Where the policy is from. */
  source: string;
}

/**
 * Reads all that a check before an installation is about. What may not be read is in the facts.
 *
 * @throws ClusterError where the cluster does not answer
 */
export const readPre = (client: ApiClient, options: PreOptions): Promise<PreFacts> =>
  withReader(client, async (reader) => {
    const { ownNamespace, policy, source } = options;
    // also what makes an API server that is gone an error of one request, and not of many
    const version = await readVersion(reader);
    const [
      environment,
      registered,
      priorityClass,
      rights,
      apiServers,
      servedApis,
      daemonSets,
      webhooks,
      namespaces,
    ] = await Promise.all([
      readEnvironment(reader),
      readRegistered(reader),
      reader.get(
        apiPath`/apis/scheduling.k8s.io/v1/priorityclasses/${'system-cluster-critical'}`,
        'PriorityClasses',
      ),
      ownRights(reader, installRights()),
      observe(reader.list(apiServerSource), 'the pods of the API server'),
      observe(reader.list(servedApiSource), 'APIServices'),
      observe(readDaemonSets(reader, policy), 'DaemonSets'),
      observe(reader.list(webhookSource), 'mutating webhook configurations'),
      observe(reader.list(namespaceSource(policy)), 'namespaces'),
    ]);
    const installation = await readInstallation(reader, { registered, ownNamespace });
    const networks = networksOf({
      policy,
      daemonSets: foundIn(daemonSets) ?? [],
      webhooks: foundIn(webhooks)?.flat(),
    });
    const complete = networks.flatMap((network) => (network.complete ? network.profile : []));
    const used = await observe(usedProfiles(reader, options, complete, foundIn(namespaces) ?? []), 'pods');
    const withUsed = ({ name, profile, fits }: LabelledNamespace): NamespaceBrief => {
      const ofPods = foundIn(used)?.get(name);
      return { name, profile, fits: ofPods ? [...new Set([...fits, ...ofPods])] : [] };
    };
    return {
      ...environment,
      version,
      cluster: clusterIdentity(client, installation.deployment),
      policy,
      source,
      registered,
      installation,
      rights,
      apiServers,
      daemonSets,
      namespaces: mapObservation(namespaces, (found) => found.map(withUsed)),
      podsUnread: unknownIn(used)?.why,
      clockSkew: client.clockSkew,
      priorityClass: mapObservation(priorityClass, (): true => true),
      servedApis: mapObservation(servedApis, (found) => found.flat()),
      webhooks: mapObservation(webhooks, (found) => found.flat()),
    };
  });

type ApiPod = ApiObject & {
  spec?: { containers?: { command?: string[] | null; args?: string[] | null }[] | null } | null;
};

/** API servers that kubeadm and others run as static pods. Elsewhere their flags are not visible. */
const apiServerSource: Source<ApiPod, string[]> = {
  resource: 'pods of the API server',
  path: apiPath`/api/v1/namespaces/${'kube-system'}/pods`,
  query: { labelSelector: 'component=kube-apiserver' },
  pick: ({ spec }) =>
    (spec?.containers ?? []).flatMap(({ command, args }) => [...(command ?? []), ...(args ?? [])]),
  retention: atMost(mostObjects),
};

type ApiService = ApiObject & {
  spec?: { service?: { namespace?: string; name?: string } | null } | null;
  status?: { conditions?: { type: string; status: string; message?: string }[] | null } | null;
};

const servedApiSource: Source<ApiService, ServedApi[]> = {
  resource: 'apiservices',
  path: '/apis/apiregistration.k8s.io/v1/apiservices',
  pick: ({ metadata, spec, status }) => {
    if (!spec?.service) return [];
    const condition = (status?.conditions ?? []).find(({ type }) => type === 'Available');
    const { namespace = '', name = '' } = spec.service;
    return [
      {
        name: metadata.name,
        service: `${namespace}/${name}`,
        available: condition?.status === 'True',
        message: condition?.message ?? '',
      },
    ];
  },
  retention: atMost(mostObjects),
};

type ApiConfiguration = ApiObject & { webhooks?: { name: string }[] | null };

const webhookSource: Source<ApiConfiguration, string[]> = {
  resource: 'mutatingwebhookconfigurations',
  path: configurationsPath('mutating'),
  pick: ({ webhooks }) => (webhooks ?? []).map(({ name }) => name),
  retention: atMost(mostObjects),
};

/** A namespace with its labels, on which conditions depend. */
type LabelledNamespace = NamespaceBrief & { labels: Record<string, string> };

const namespaceSource = (policy: Policy): Source<ApiObject, LabelledNamespace> => ({
  resource: 'namespaces',
  path: '/api/v1/namespaces',
  objectBytes: objectBytes.namespace,
  pick: ({ metadata }) => {
    const { name, labels, annotations } = metadata;
    const fits = fittingProfiles(policy, { labels: labels ?? {}, annotations: annotations ?? {} });
    return { name, profile: optedInTo(labels ?? {}), fits, labels: labels ?? {} };
  },
  retention: atMost(namespaceLimits.max.count),
});

/** By namespace with a pod that is not exempt, the profiles of these names that apply to one. */
async function usedProfiles(
  reader: ClusterReader,
  { policy, ownNamespace }: Pick<PreOptions, 'policy' | 'ownNamespace'>,
  names: readonly string[],
  namespaces: readonly LabelledNamespace[],
): Promise<Map<string, Set<string>>> {
  const used = new Map<string, Set<string>>();
  const labels = new Map(namespaces.map((namespace) => [namespace.name, namespace.labels]));
  const profiles = names.flatMap((name) => policy.profiles.get(name) ?? []);
  if (profiles.length === 0) return used;
  await reader.list<ApiObject & Pod, null>({
    resource: 'pods',
    path: '/api/v1/pods',
    pick: (pod) => {
      const { namespace = '', name } = pod.metadata;
      const request = { uid: '', namespace, name, operation: 'CREATE', subResource: '', dryRun: true, pod };
      if (exemption(request, policy.daemonSets, ownNamespace) !== undefined) return null;
      const found = profiles.filter((profile) => applies(profile, pod, labels.get(namespace)));
      const before = used.get(namespace) ?? [];
      used.set(namespace, new Set([...before, ...found.map(({ name }) => name)]));
      return null;
    },
    // nothing of a pod is kept: there may be very many
    fits: () => false,
  });
  return used;
}

/** The DaemonSets that profiles name, and of others with these names a bounded number. */
async function readDaemonSets(reader: ClusterReader, policy: Policy): Promise<DaemonSetRef[]> {
  const names = new Set([...policy.daemonSets].map((key) => key.split('/')[1] ?? ''));
  // each by itself: among many of one name, it could be one of those that are not kept
  const named = await listEach(reader, daemonSetSources(policy).values());
  const others = Array.from(
    names,
    (name): Source<ApiObject, DaemonSetRef> => ({
      resource: `daemonsets ${name}`,
      path: '/apis/apps/v1/daemonsets',
      query: { fieldSelector: `metadata.name=${name}` },
      objectBytes: objectBytes.daemonSet,
      pick: ({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name }),
      wants: (one) => !policy.daemonSets.has(`${one.namespace}/${one.name}`),
      retention: atMost(sameName),
    }),
  );
  return [
    ...named.map(({ facts: { namespace, name } }) => ({ namespace, name })),
    ...(await listEach(reader, others)),
  ];
}
