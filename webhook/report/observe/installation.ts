import { posix } from 'node:path';
import type {
  V1Deployment,
  V1EndpointSlice,
  V1MutatingAdmissionPolicy,
  V1MutatingAdmissionPolicyBinding,
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
import type { Lease } from '../../cluster/leadership.ts';
import { getOwn } from '../../lib/maps.ts';
import {
  installedDeployment,
  installedPolicies,
  installedService,
  leaderLease,
  webhookConfiguration,
} from '../../lib/names.ts';
import { mapFound, type Observation, observed, readLists, readOne } from './observation.ts';

/** A mutating or validating webhook, as the API returns it. */
export type Webhook = V1MutatingWebhook;

/** The webhooks in our two webhook configurations; undefined for a configuration that may not be read. */
export type Registered = Record<WebhookKind, Webhook[] | undefined>;

/** Reads our webhook configurations. @throws ClusterError where the cluster does not answer */
export async function readRegistered(client: ApiClient): Promise<Registered> {
  const webhooks = async (kind: WebhookKind): Promise<Webhook[] | undefined> => {
    const source = {
      resource: `${kind}webhookconfigurations`,
      path: configurationsPath(kind),
      // RBAC may limit the caller's right to list to this name
      query: { fieldSelector: `metadata.name=${webhookConfiguration}` },
      pick: (configuration: ApiObject & { webhooks?: Webhook[] }) => configuration.webhooks ?? [],
    };
    return (await observed(readLists(client, [source]), source.resource)).found?.flat();
  };
  const [mutating, validating] = await Promise.all([webhooks('mutating'), webhooks('validating')]);
  return { mutating, validating };
}

const webhooksOf = ({ mutating = [], validating = [] }: Registered): Webhook[] => [
  ...mutating,
  ...validating,
];

/** The Service that our webhooks call, if any. cni-gate is installed in the namespace of this Service. */
export const calledService = (registered: Registered) =>
  webhooksOf(registered).flatMap(({ clientConfig }) => clientConfig.service ?? [])[0];

/** The objects of a cluster, besides the webhook configurations, on which admission by cni-gate depends. */
export type InstallationFacts = Awaited<ReturnType<typeof readInstallation>>;

/** @param ownNamespace used if no webhook calls a Service @throws ClusterError if the cluster does not answer */
export async function readInstallation(client: ApiClient, registered: Registered, ownNamespace: string) {
  const webhooks = webhooksOf(registered);
  const called = calledService(registered);
  const [url] = webhooks.flatMap(({ clientConfig }) => clientConfig.url ?? []);
  const namespace = called?.namespace ?? ownNamespace;
  const read = <T>(kind: string, list: string, name: string): Promise<Observation<T>> =>
    readOne(client, pathBelow(list, name), `${kind} ${namespace}/${name}`);
  const sliceSource = {
    resource: 'endpointslices',
    path: apiPath`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
    query: { labelSelector: `kubernetes.io/service-name=${installedService}` },
    pick: ({ ports, endpoints }: ApiObject & Pick<V1EndpointSlice, 'ports' | 'endpoints'>) => ({
      ports: ports ?? [],
      endpoints: endpoints ?? [],
    }),
  };
  const [deployments, services, leases] = [
    apiPath`/apis/apps/v1/namespaces/${namespace}/deployments`,
    apiPath`/api/v1/namespaces/${namespace}/services`,
    apiPath`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`,
  ];
  const [deployment, lease, service, slices, pods, serviceAccount, mutating] = await Promise.all([
    read<V1Deployment>('Deployment', deployments, installedDeployment),
    read<ManagedLease>('Lease', leases, leaderLease),
    read<V1Service>('Service', services, installedService),
    observed(readLists(client, [sliceSource]), 'the EndpointSlices of the Service'),
    readPolicy(client, installedPolicies[0]),
    readPolicy(client, installedPolicies[1]),
    readPair<V1MutatingAdmissionPolicy, V1MutatingAdmissionPolicyBinding>(
      client,
      'mutating',
      installedPolicies[0],
    ),
  ]);
  return {
    namespace,
    // the URL of a server outside the cluster
    url: called === undefined ? url : undefined,
    // the webhooks that call another server than that Service
    elsewhere: webhooks.flatMap(({ name, clientConfig }) =>
      called !== undefined && clientConfig.service?.namespace !== namespace ? [name] : [],
    ),
    service,
    slices,
    deployment,
    certificate: await readCertificate(client, namespace, deployment, webhooks),
    policies: { pods, serviceAccount, mutating },
    lease: mapFound(lease, (found) => leaseFacts(found, client.clockSkew)),
    // the policy of the webhook for pods; undefined if not known
    failurePolicy: registered.mutating?.[0]?.failurePolicy,
  };
}

const readPolicy = (client: ApiClient, name: string) =>
  readPair<V1ValidatingAdmissionPolicy, V1ValidatingAdmissionPolicyBinding>(client, 'validating', name);

/** Reads a policy and its binding. A cluster that does not have the kind has neither. */
async function readPair<P, B>(client: ApiClient, kind: WebhookKind, name: string) {
  const read = <T>(resource: string, what: string): Promise<Observation<T>> =>
    readOne(client, pathBelow(`/apis/admissionregistration.k8s.io/v1/${resource}`, name), what);
  const [policy, binding] = await Promise.all([
    read<P>(`${kind}admissionpolicies`, `the ${kind} policy ${name}`),
    read<B>(`${kind}admissionpolicybindings`, `the binding of the ${kind} policy ${name}`),
  ]);
  return { policy, binding };
}

/** A Lease with the managed fields, in which the API server records who wrote what and when. */
interface ManagedLease extends Lease {
  metadata: Lease['metadata'] & {
    managedFields?: { time?: string; fieldsV1?: { 'f:spec'?: { 'f:renewTime'?: object } } }[] | null;
  };
}

/** The Lease of the leading replica; times in milliseconds. @param clockSkew the API server's clock minus ours */
function leaseFacts({ metadata, spec }: ManagedLease, clockSkew: number) {
  // the holder's clock sets `renewTime`; the API server's clock sets the time in `managedFields`
  const written = metadata.managedFields?.find(({ fieldsV1 }) => fieldsV1?.['f:spec']?.['f:renewTime']);
  return {
    holder: spec?.holderIdentity ?? '',
    renewed: (Date.parse(written?.time ?? spec?.renewTime ?? '') || 0) - clockSkew,
    duration: (spec?.leaseDurationSeconds ?? 0) * 1000,
  };
}

const serverIn = ({ spec }: V1Deployment) =>
  spec?.template.spec?.containers.find(({ name }) => name === installedDeployment);

/** The version of an installation, namely the tag of the server's image without the digest; undefined without a tag. */
export const versionIn = (deployment: V1Deployment): string | undefined =>
  // the pattern skips the port of a registry, because a slash follows the port
  /:([^:/]+)$/.exec(serverIn(deployment)?.image?.split('@')[0] ?? '')?.[1];

/** Whether replicas of the previous revision may still serve, by the rules of `kubectl rollout status`. */
export function isRollingOut({ metadata, spec, status = {} }: V1Deployment): boolean {
  const { replicas = 0, updatedReplicas = 0, observedGeneration = 0 } = status;
  const wanted = Math.max(replicas, spec?.replicas ?? 1);
  return updatedReplicas < wanted || observedGeneration < (metadata?.generation ?? 0);
}

export const accountIn = ({ spec }: V1Deployment): string =>
  spec?.template.spec?.serviceAccountName ?? 'default';

/**
 * The Secret with the replicas' serving certificate: the Secret of `--tls-secret`, which has the authority, or the
 * Secret that is mounted where `--tls-cert` points. Undefined if the Deployment names neither.
 */
export function servingSecret(
  deployment: V1Deployment,
): { name: string; key: string; isAuthority: boolean } | undefined {
  const { args, volumeMounts } = serverIn(deployment) ?? {};
  const managed = flagOf(args, '--tls-secret');
  if (managed !== undefined) return { name: managed, key: 'tls.crt', isAuthority: true };
  const { dir, base } = posix.parse(flagOf(args, '--tls-cert') ?? '');
  const mount = volumeMounts?.find(({ mountPath }) => mountPath === dir);
  const volume = deployment.spec?.template.spec?.volumes?.find(({ name }) => name === mount?.name);
  const name = volume?.secret?.secretName;
  return name === undefined ? undefined : { name, key: base, isAuthority: false };
}

/** The value of a command-line flag, written as `--flag=value` or as two arguments. */
function flagOf(args: readonly string[] = [], flag: string): string | undefined {
  const at = args.findIndex((arg) => arg === flag || arg.startsWith(`${flag}=`));
  return args[at] === flag ? args[at + 1] : args[at]?.slice(flag.length + 1);
}

/**
 * Reads the certificate in the replicas' Secret, and verifies it as the API server does for each webhook that calls a
 * Service. With managed certificates, the Secret has the authority's certificate: each replica signs its own.
 */
async function readCertificate(
  client: ApiClient,
  namespace: string,
  { found: deployment, unknown }: Observation<V1Deployment>,
  webhooks: readonly Webhook[],
) {
  const notSaid = (why: string): Observation<never> => ({
    unknown: { why: `Certificate: ${why}`, forbidden: false },
  });
  if (unknown) return { unknown };
  const at = deployment && servingSecret(deployment);
  if (at === undefined) return notSaid('no Deployment says in which Secret it is');
  const secret = `${namespace}/${at.name}`;
  const path = apiPath`/api/v1/namespaces/${namespace}/secrets/${at.name}`;
  const read = await readOne<V1Secret>(client, path, `Certificate: Secret ${secret}`);
  // the volume may have renamed the key, so the file's name is no key of the Secret
  if (!read.unknown && getOwn(read.found?.data, at.key) === undefined)
    return notSaid(`Secret ${secret} with key ${at.key} does not exist`);
  // the time by the API server's clock
  const now = new Date(Date.now() + client.clockSkew);
  return mapFound(read, ({ data }) => ({
    secret,
    webhooks: webhooks.flatMap(({ name, clientConfig: { service, caBundle } }) => {
      if (!service) return [];
      const host = at.isAuthority ? undefined : `${service.name}.${service.namespace}.svc`;
      return [{ name, fault: verifyChain(decoded(getOwn(data, at.key)), decoded(caBundle), host, now) }];
    }),
  }));
}

const decoded = (base64: string | undefined): string => Buffer.from(base64 ?? '', 'base64').toString();
