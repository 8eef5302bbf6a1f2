import { verifyChain } from '../../../certs/verify.ts';
import type { Pod } from '../../admission/pod.ts';
import { apiPath, pathBelow } from '../../cluster/api-path.ts';
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
import type {
  CertificateFacts,
  DeploymentFacts,
  InstallationFacts,
  PolicyPair,
  Registered,
  RegisteredWebhook,
  ServiceFacts,
} from './installation-model.ts';
import {
  type ApiBinding,
  type ApiDeployment,
  type ApiEndpointSlice,
  type ApiPolicy,
  type ApiService,
  pickBinding,
  pickDeployment,
  pickEndpoints,
  pickLease,
  pickPolicy,
  pickService,
  pickSlice,
} from './objects.ts';
import { foundIn, mapObservation, type Observation, observe } from './observation.ts';
import type { ClusterReader } from './reader.ts';

/**
 * Reads all that admission depends on besides the webhook configurations.
 *
 * @param registered what is in those
 * @param ownNamespace of cni-gate, where no webhook calls a Service in another
 * @throws ClusterError where the cluster does not answer; that something may not be read is in the facts
 */
export async function readInstallation(
  reader: ClusterReader,
  { registered, ownNamespace }: { registered: Registered; ownNamespace: string },
): Promise<InstallationFacts> {
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
    reader.get<ApiDeployment>(
      apiPath`/apis/apps/v1/namespaces/${namespace}/deployments/${installedDeployment}`,
    ),
    reader.get<Lease>(apiPath`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${leaderLease}`),
    Promise.all(asked.map((service) => readService(reader, service))),
    readPolicy(reader, installedPolicies[0]),
    readPolicy(reader, installedPolicies[1]),
  ]);
  const deployment = mapObservation(stored, pickDeployment);
  const certificate = await readCertificate(reader, namespace, deployment, webhooks);
  const isGone =
    webhooks.length === 0 && deployment === 'absent' && read.every(({ service }) => service === 'absent');
  return {
    namespace,
    services: read,
    urls,
    deployment,
    certificate,
    policies: { pods, serviceAccount },
    lease: mapObservation(lease, (found) => pickLease(found, reader.client.clockSkew)),
    failurePolicy: registered.mutating?.[0]?.failurePolicy,
    ...(isGone && { injected: await observe(injectedPods(reader), 'pods') }),
  };
}

/** By namespace, the number of pods that run with the injected init container: also where the namespace has no label. */
async function injectedPods(reader: ClusterReader): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  await reader.list<ApiObject & Pod, boolean>({
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
type CalledService = Pick<ServiceFacts, 'namespace' | 'name' | 'port'>;

/** The Services that webhooks call, each once for each port. There are as many as webhooks of ours at most. */
function servicesOf(webhooks: readonly RegisteredWebhook[]): CalledService[] {
  const called = new Map(
    webhooks.flatMap(({ service }) =>
      service === undefined ? [] : [[`${service.namespace}/${service.name}:${service.port}`, service]],
    ),
  );
  return [...called.values()];
}

/** Reads a Service and counts its endpoints. */
async function readService(reader: ClusterReader, called: CalledService): Promise<ServiceFacts> {
  const { namespace, name, port } = called;
  const slices = {
    resource: 'endpointslices',
    path: apiPath`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
    query: { labelSelector: `kubernetes.io/service-name=${name}` },
    pick: (slice: ApiEndpointSlice) => pickSlice(slice),
  };
  const [service, listed] = await Promise.all([
    reader.get<ApiService>(apiPath`/api/v1/namespaces/${namespace}/services/${name}`),
    observe(reader.list(slices), 'its EndpointSlices'),
  ]);
  const endpoints = mapObservation(listed, (found) => pickEndpoints(found, foundIn(service), port));
  const targetPorts = foundIn(endpoints)?.targetPorts ?? [];
  return {
    ...called,
    service: mapObservation(service, pickService),
    endpoints: mapObservation(endpoints, ({ counts }) => counts),
    ...(targetPorts.length > 0 && { targetPorts }),
  };
}

/** Reads a policy of ours, and the binding of the same name. */
async function readPolicy(reader: ClusterReader, name: string): Promise<PolicyPair> {
  const folder = '/apis/admissionregistration.k8s.io/v1';
  const [policy, binding] = await Promise.all([
    reader.get<ApiPolicy>(pathBelow(`${folder}/validatingadmissionpolicies`, name)),
    reader.get<ApiBinding>(pathBelow(`${folder}/validatingadmissionpolicybindings`, name), 'its binding'),
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
  reader: ClusterReader,
  namespace: string,
  deployment: Observation<DeploymentFacts>,
  webhooks: readonly RegisteredWebhook[],
): Promise<Observation<CertificateFacts>> {
  if (deployment === 'absent') return notSaid('there is no Deployment that says in which Secret it is');
  if ('unknown' in deployment) {
    const why = 'the Deployment, which says in which Secret it is, may not be read';
    return { unknown: { ...deployment.unknown, why } };
  }
  const at = deployment.found.secret;
  if (at === undefined) return notSaid('the Deployment does not say in which Secret it is');
  const secret = `${namespace}/${at.name}`;
  const path = apiPath`/api/v1/namespaces/${namespace}/secrets/${at.name}`;
  const read = await reader.get<{ data?: Record<string, string> | null }>(path, `Secret ${secret}`);
  if (read === 'absent') return notSaid(`Secret ${secret} does not exist`);
  // the API server's time
  const now = new Date(Date.now() + reader.client.clockSkew);
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
