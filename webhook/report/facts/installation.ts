import { verifyChain } from '../../../certs/verify.ts';
import type { Pod } from '../../admission/pod.ts';
import { apiPath, pathBelow } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
import type { ApiObject } from '../../cluster/informer/object.ts';
import type { Lease } from '../../cluster/lease/lease.ts';
import {
  installedDeployment,
  installedPolicies,
  installedService,
  leaderLease,
  profileLabel,
  validatorContainer,
} from '../../lib/names.ts';
import { own } from '../../lib/own.ts';
import {
  type ApiBinding,
  type ApiDeployment,
  type ApiEndpointSlice,
  type ApiPolicy,
  type ApiService,
  type DeploymentFacts,
  pickBinding,
  pickDeployment,
  pickEndpoints,
  pickLease,
  pickPolicy,
  pickService,
  pickSlice,
} from './objects.ts';
import { foundIn, mapObservation, type Observation, observe } from './observation.ts';
import { readList, readOne } from './reader.ts';
import type { Registered, RegisteredWebhook } from './webhooks.ts';

/** All that admission depends on in a cluster, besides the webhook configurations. */
export type InstallationFacts = Awaited<ReturnType<typeof readInstallation>>;

/**
 * Reads all that admission depends on besides the webhook configurations.
 *
 * @param registered what is in those
 * @param ownNamespace of cni-gate, where no webhook calls a Service in another
 * @throws ClusterError where the cluster does not answer; that something may not be read is in the facts
 */
export async function readInstallation(client: ApiClient, registered: Registered, ownNamespace: string) {
  const webhooks = [...(registered.mutating ?? []), ...(registered.validating ?? [])];
  const services = servicesOf(webhooks);
  const urls = [...new Set(webhooks.flatMap(({ url }) => url ?? []))];
  const namespace = services[0]?.namespace ?? ownNamespace;
  // where nothing is registered, the Service shows whether anything is installed
  const asked =
    services.length > 0 || urls.length > 0
      ? services
      : [{ namespace: ownNamespace, name: installedService, port: 443 }];
  const [stored, lease, read, pods, serviceAccount] = await Promise.all([
    readOne<ApiDeployment>(
      client,
      apiPath`/apis/apps/v1/namespaces/${namespace}/deployments/${installedDeployment}`,
    ),
    readOne<Lease>(
      client,
      apiPath`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${leaderLease}`,
    ),
    Promise.all(asked.map((service) => readService(client, service))),
    readPolicy(client, installedPolicies[0]),
    readPolicy(client, installedPolicies[1]),
  ]);
  const deployment = mapObservation(stored, pickDeployment);
  const certificate = await readCertificate(client, namespace, deployment, webhooks);
  const isGone =
    webhooks.length === 0 && deployment === 'absent' && read.every(({ service }) => service === 'absent');
  return {
    namespace,
    services: read,
    urls,
    deployment,
    certificate,
    policies: { pods, serviceAccount },
    lease: mapObservation(lease, (found) => pickLease(found, client.clockSkew)),
    // what the API server does with a new pod while the webhook for pods does not answer; undefined: not known
    failurePolicy: registered.mutating?.[0]?.failurePolicy,
    ...(isGone && { injected: await observe(injectedPods(client), 'pods') }),
  };
}

/** By namespace, the number of pods that run with the injected init container: also where the namespace has no label. */
async function injectedPods(client: ApiClient): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  await readList<ApiObject & Pod, boolean>(client, {
    resource: 'pods',
    path: '/api/v1/pods',
    // each pod with the container has the label
    query: { labelSelector: profileLabel, fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' },
    pick: ({ metadata: { namespace = '' }, spec }) => {
      if (spec.initContainers?.some(({ name }) => name === validatorContainer))
        counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
      return false;
    },
    // nothing of a pod is kept: there may be very many
    fits: (isKept) => isKept,
  });
  return counts;
}

/** A Service by its name, and the port that webhooks call. */
type CalledService = NonNullable<RegisteredWebhook['service']>;

/** The Services that webhooks call, each once for each port. There are as many as webhooks of ours at most. */
function servicesOf(webhooks: readonly RegisteredWebhook[]): CalledService[] {
  const called = new Map(
    webhooks.flatMap(({ service }) =>
      service === undefined ? [] : [[`${service.namespace}/${service.name}:${service.port}`, service]],
    ),
  );
  return [...called.values()];
}

/** A Service that our webhooks call, and its endpoints. */
export type ServiceFacts = Awaited<ReturnType<typeof readService>>;

async function readService(client: ApiClient, called: CalledService) {
  const { namespace, name, port } = called;
  const slices = {
    resource: 'endpointslices',
    path: apiPath`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
    query: { labelSelector: `kubernetes.io/service-name=${name}` },
    pick: (slice: ApiEndpointSlice) => pickSlice(slice),
  };
  const [service, listed] = await Promise.all([
    readOne<ApiService>(client, apiPath`/api/v1/namespaces/${namespace}/services/${name}`),
    observe(readList(client, slices), 'its EndpointSlices'),
  ]);
  return {
    ...called,
    service: mapObservation(service, pickService),
    endpoints: mapObservation(listed, (found) => pickEndpoints(found, foundIn(service), port)),
  };
}

/** A policy of ours, and the binding of the same name. */
export type PolicyPair = Awaited<ReturnType<typeof readPolicy>>;

async function readPolicy(client: ApiClient, name: string) {
  const folder = '/apis/admissionregistration.k8s.io/v1';
  const [policy, binding] = await Promise.all([
    readOne<ApiPolicy>(client, pathBelow(`${folder}/validatingadmissionpolicies`, name)),
    readOne<ApiBinding>(
      client,
      pathBelow(`${folder}/validatingadmissionpolicybindings`, name),
      'its binding',
    ),
  ]);
  return { policy: mapObservation(policy, pickPolicy), binding: mapObservation(binding, pickBinding) };
}

const notSaid = (why: string): Observation<never> => ({ unknown: { why, forbidden: false } });

/**
 * Reads the certificate in the replicas' Secret, and verifies it as the API server does for each webhook that calls a
 * Service. With managed certificates it is the authority's: each replica signs its own certificate.
 *
 * @param webhooks whose caBundles to check it with
 */
async function readCertificate(
  client: ApiClient,
  namespace: string,
  deployment: Observation<DeploymentFacts>,
  webhooks: readonly RegisteredWebhook[],
) {
  if (deployment === 'absent') return notSaid('there is no Deployment that says in which Secret it is');
  if ('unknown' in deployment) {
    const why = 'the Deployment, which says in which Secret it is, may not be read';
    return { unknown: { ...deployment.unknown, why } };
  }
  const at = deployment.found.secret;
  if (at === undefined) return notSaid('the Deployment does not say in which Secret it is');
  const secret = `${namespace}/${at.name}`;
  const path = apiPath`/api/v1/namespaces/${namespace}/secrets/${at.name}`;
  const read = await readOne<{ data?: Record<string, string> | null }>(client, path, `Secret ${secret}`);
  if (read === 'absent') return notSaid(`Secret ${secret} does not exist`);
  // the API server's time
  const now = new Date(Date.now() + client.clockSkew);
  return mapObservation(read, ({ data }) => {
    const chain = decoded(own(data, at.key));
    return {
      secret,
      webhooks: webhooks.flatMap(({ name, service, caBundle }) => {
        if (service === undefined) return [];
        const host = at.isAuthority ? undefined : `${service.name}.${service.namespace}.svc`;
        return [{ name, fault: verifyChain(chain, decoded(caBundle), host, now) }];
      }),
    };
  });
}

const decoded = (base64: string | undefined): string => Buffer.from(base64 ?? '', 'base64').toString();
