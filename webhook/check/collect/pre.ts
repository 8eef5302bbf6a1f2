import type { Policy } from '../../config/policy.ts';
import type { DaemonSetRef } from '../../config/types.ts';
import { optedInTo } from '../../inject/profile-selection.ts';
import { apiPath } from '../../kubernetes/api-path.ts';
import type { ApiClient } from '../../kubernetes/client.ts';
import type { ApiObject } from '../../kubernetes/reflector/object.ts';
import type { Source } from '../../kubernetes/reflector/source.ts';
import { configurationsPath } from '../../kubernetes/webhook-configurations.ts';
import { namespaces as namespaceLimits, objectBytes } from '../../lib/limits.ts';
import { clusterIdentity } from '../../status/cluster-identity.ts';
import { readAdmission } from '../../status/collect/list.ts';
import { ClusterReader, eachOf, observe } from '../../status/collect/reader.ts';
import { mapObservation } from '../../status/installation/facts.ts';
import { judgeInstallation } from '../../status/installation/judge.ts';
import { daemonSetSources } from '../../view/sources.ts';
import type { NamespaceBrief, PreFacts, ServedApi } from '../facts.ts';
import { fittingProfiles } from '../networks.ts';
import { installRights } from '../rights.ts';
import { atMost } from './bounded.ts';
import { readCluster } from './cluster.ts';
import { ownRights } from './rights.ts';

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
export async function readPre(
  client: ApiClient,
  { ownNamespace, policy, source }: PreOptions,
): Promise<PreFacts> {
  // one that fails ends the others
  const stop = new AbortController();
  const reader = new ClusterReader(client, stop.signal);
  try {
    const read = await readCluster(reader);
    const [admission, priorityClass, rights, apiServers, servedApis, daemonSets, webhooks, namespaces] =
      await Promise.all([
        readAdmission(reader, ownNamespace),
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
    const { present } = judgeInstallation({
      ...admission,
      policy,
      scheduler: undefined,
      probe: undefined,
      now: Date.now(),
    });
    return {
      ...read,
      cluster: clusterIdentity(client, admission.installation.deployment),
      policy,
      source,
      present,
      rights,
      apiServers,
      daemonSets,
      namespaces,
      clockSkew: client.clockSkew,
      priorityClass: mapObservation(priorityClass, (): true => true),
      servedApis: mapObservation(servedApis, (found) => found.flat()),
      webhooks: mapObservation(webhooks, (found) => found.flat()),
    };
  } finally {
    stop.abort();
  }
}

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
  keeping: atMost(mostObjects),
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
  keeping: atMost(mostObjects),
};

type ApiConfiguration = ApiObject & { webhooks?: { name: string }[] | null };

const webhookSource: Source<ApiConfiguration, string[]> = {
  resource: 'mutatingwebhookconfigurations',
  path: configurationsPath('mutating'),
  pick: ({ webhooks }) => (webhooks ?? []).map(({ name }) => name),
  keeping: atMost(mostObjects),
};

const namespaceSource = (policy: Policy): Source<ApiObject, NamespaceBrief> => ({
  resource: 'namespaces',
  path: '/api/v1/namespaces',
  objectBytes: objectBytes.namespace,
  pick: ({ metadata }) => {
    const { name, labels, annotations } = metadata;
    const fits = fittingProfiles(policy, { labels: labels ?? {}, annotations: annotations ?? {} });
    return { name, profile: optedInTo(labels ?? {}), fits };
  },
  keeping: atMost(namespaceLimits.max.count),
});

/** The DaemonSets that profiles name, and of others with these names a bounded number. */
async function readDaemonSets(reader: ClusterReader, policy: Policy): Promise<DaemonSetRef[]> {
  const names = new Set([...policy.daemonSets].map((key) => key.split('/')[1] ?? ''));
  const found: DaemonSetRef[] = [];
  // each by itself: among many of one name, it could be one of those that are not kept
  await eachOf(daemonSetSources(policy).values(), async (source) => {
    found.push(
      ...(await reader.list(source)).map(({ facts }) => ({ namespace: facts.namespace, name: facts.name })),
    );
  });
  await eachOf(names, async (name) => {
    const source: Source<ApiObject, DaemonSetRef> = {
      resource: `daemonsets ${name}`,
      path: '/apis/apps/v1/daemonsets',
      query: { fieldSelector: `metadata.name=${name}` },
      objectBytes: objectBytes.daemonSet,
      pick: ({ metadata }) => ({ namespace: metadata.namespace ?? '', name: metadata.name }),
      wants: (one) => !policy.daemonSets.has(`${one.namespace}/${one.name}`),
      keeping: atMost(sameName),
    };
    found.push(...(await reader.list(source)));
  });
  return found;
}
