import type {
  V1Deployment,
  V1EndpointSlice,
  V1MutatingWebhook,
  V1Secret,
  V1Service,
  V1ValidatingAdmissionPolicy,
  V1ValidatingAdmissionPolicyBinding,
} from '@kubernetes/client-node';
import { verifyChain } from '../../../certs/verify.ts';
import { apiPath, configurationsPath, pathBelow, type WebhookKind } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
import type { ApiObject } from '../../cluster/informer/object.ts';
import type { Lease } from '../../cluster/lease/lease.ts';
import { own } from '../../lib/maps.ts';
import {
  installedDeployment,
  installedPolicies,
  installedService,
  leaderLease,
  webhookConfiguration,
} from '../../lib/names.ts';
import { servingSecret } from './deployment.ts';
import { ifAllowed, mapObservation, type Observation, observe, readList, readOne } from './observation.ts';

/** A webhook of either kind, as the API has it. */
export type Webhook = V1MutatingWebhook;

/** What is in our webhook configurations; undefined where that may not be read. */
export type Registered = Record<WebhookKind, Webhook[] | undefined>;

/** Reads our webhook configurations. @throws ClusterError where the cluster does not answer */
export async function readRegistered(client: ApiClient): Promise<Registered> {
  const webhooks = async (kind: WebhookKind): Promise<Webhook[] | undefined> => {
    const source = {
      resource: `${kind}webhookconfigurations`,
      path: configurationsPath(kind),
      // also what a role may be held to
      query: { fieldSelector: `metadata.name=${webhookConfiguration}` },
      pick: (found: ApiObject & { webhooks?: Webhook[] }) => found.webhooks ?? [],
    };
    return (await ifAllowed(readList(client, source)))?.flat();
  };
  const [mutating, validating] = await Promise.all([webhooks('mutating'), webhooks('validating')]);
  return { mutating, validating };
}

const webhooksOf = ({ mutating, validating }: Registered): Webhook[] => [
  ...(mutating ?? []),
  ...(validating ?? []),
];

/** The Service that our webhooks call; undefined where none is known. Its namespace is that of the installation. */
export const calledService = (registered: Registered) =>
  webhooksOf(registered).flatMap(({ clientConfig }) => clientConfig.service ?? [])[0];

/** All that admission depends on in a cluster, besides the webhook configurations. */
export type InstallationFacts = Awaited<ReturnType<typeof readInstallation>>;

/**
 * Reads all that admission depends on besides the webhook configurations.
 *
 * @param registered what is in those
 * @param ownNamespace of cni-gate, where no webhook calls a Service
 * @throws ClusterError where the cluster does not answer; that something may not be read is in the facts
 */
export async function readInstallation(client: ApiClient, registered: Registered, ownNamespace: string) {
  const webhooks = webhooksOf(registered);
  const called = calledService(registered);
  const [url] = webhooks.flatMap(({ clientConfig }) => clientConfig.url ?? []);
  const namespace = called?.namespace ?? ownNamespace;
  const sliceSource = {
    resource: 'endpointslices',
    path: apiPath`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
    query: { labelSelector: `kubernetes.io/service-name=${installedService}` },
    pick: ({ ports, endpoints }: ApiObject & Pick<V1EndpointSlice, 'ports' | 'endpoints'>) => ({
      ports: ports ?? [],
      endpoints: endpoints ?? [],
    }),
  };
  const [deployment, lease, service, slices, pods, serviceAccount] = await Promise.all([
    readOne<V1Deployment>(
      client,
      apiPath`/apis/apps/v1/namespaces/${namespace}/deployments/${installedDeployment}`,
    ),
    readOne<ManagedLease>(
      client,
      apiPath`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${leaderLease}`,
    ),
    readOne<V1Service>(client, apiPath`/api/v1/namespaces/${namespace}/services/${installedService}`),
    observe(readList(client, sliceSource), 'its EndpointSlices'),
    readPolicy(client, installedPolicies[0]),
    readPolicy(client, installedPolicies[1]),
  ]);
  return {
    namespace,
    // of a server outside of the cluster
    url: called === undefined ? url : undefined,
    // webhooks that call another server than the Service does
    elsewhere: webhooks.flatMap(({ name, clientConfig: { service: one } }) =>
      called !== undefined && one?.namespace !== namespace ? [name] : [],
    ),
    service,
    slices,
    deployment,
    certificate: await readCertificate(client, namespace, deployment, webhooks),
    policies: { pods, serviceAccount },
    lease: mapObservation(lease, (found) => leaseFacts(found, client.clockSkew)),
    // what the API server does with a new pod while the webhook for pods does not answer; undefined: not known
    failurePolicy: registered.mutating?.[0]?.failurePolicy,
  };
}

/** A policy of ours, and the binding of the same name. */
export type PolicyPair = Awaited<ReturnType<typeof readPolicy>>;

async function readPolicy(client: ApiClient, name: string) {
  const folder = '/apis/admissionregistration.k8s.io/v1';
  const path = (resource: string): string => pathBelow(`${folder}/${resource}`, name);
  const [policy, binding] = await Promise.all([
    readOne<V1ValidatingAdmissionPolicy>(client, path('validatingadmissionpolicies')),
    readOne<V1ValidatingAdmissionPolicyBinding>(
      client,
      path('validatingadmissionpolicybindings'),
      'its binding',
    ),
  ]);
  return { policy, binding };
}

/** The Lease of the replica that leads; times in milliseconds since the epoch. */
export type LeaseFacts = ReturnType<typeof leaseFacts>;

/** A Lease with what the API server keeps of its writers. */
interface ManagedLease extends Lease {
  metadata: Lease['metadata'] & {
    managedFields?: { time?: string; fieldsV1?: { 'f:spec'?: { 'f:renewTime'?: object } } }[] | null;
  };
}

/** @param clockSkew the API server's clock minus ours, in milliseconds */
function leaseFacts({ metadata, spec }: ManagedLease, clockSkew: number) {
  // renewTime is by the holder's clock, and the time in managedFields by that of the API server
  const written = metadata.managedFields?.find(({ fieldsV1 }) => fieldsV1?.['f:spec']?.['f:renewTime']);
  const renewed = Date.parse(written?.time ?? spec?.renewTime ?? '');
  return {
    holder: spec?.holderIdentity ?? '',
    renewed: Number.isNaN(renewed) ? undefined : renewed - clockSkew,
    duration: (spec?.leaseDurationSeconds ?? 0) * 1000,
  };
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
  deployment: Observation<V1Deployment>,
  webhooks: readonly Webhook[],
) {
  if (deployment === 'absent') return notSaid('there is no Deployment that says in which Secret it is');
  if ('unknown' in deployment) {
    const why = 'the Deployment, which says in which Secret it is, may not be read';
    return { unknown: { ...deployment.unknown, why } };
  }
  const at = servingSecret(deployment.found);
  if (at === undefined) return notSaid('the Deployment does not say in which Secret it is');
  const secret = `${namespace}/${at.name}`;
  const path = apiPath`/api/v1/namespaces/${namespace}/secrets/${at.name}`;
  const read = await readOne<V1Secret>(client, path, `Secret ${secret}`);
  if (read === 'absent') return notSaid(`Secret ${secret} does not exist`);
  // the API server's time
  const now = new Date(Date.now() + client.clockSkew);
  if ('found' in read && own(read.found.data, at.key) === undefined)
    return notSaid(`Secret ${secret} has no key ${at.key}, as where the volume renames it`);
  return mapObservation(read, ({ data }) => {
    const chain = decoded(own(data, at.key));
    return {
      secret,
      webhooks: webhooks.flatMap(({ name, clientConfig: { service, caBundle } }) => {
        if (!service) return [];
        const host = at.isAuthority ? undefined : `${service.name}.${service.namespace}.svc`;
        return [{ name, fault: verifyChain(chain, decoded(caBundle), host, now) }];
      }),
    };
  });
}

const decoded = (base64: string | undefined): string => Buffer.from(base64 ?? '', 'base64').toString();
