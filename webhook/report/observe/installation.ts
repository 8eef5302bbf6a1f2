import { posix } from 'node:path';
import type {
  V1Deployment,
  V1EndpointSlice,
  V1MutatingAdmissionPolicyBindingSpec,
  V1MutatingAdmissionPolicySpec,
  V1MutatingWebhook,
  V1Secret,
  V1Service,
  V1ValidatingAdmissionPolicyBindingSpec,
  V1ValidatingAdmissionPolicySpec,
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
      // RBAC may allow the caller to list only this name
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

/** The objects of the installation, besides the webhook configurations, on which admission depends. */
export type InstallationFacts = Awaited<ReturnType<typeof readInstallation>>;

/** @param ownNamespace used if no webhook calls a Service @throws ClusterError if the cluster does not answer */
export async function readInstallation(client: ApiClient, registered: Registered, ownNamespace: string) {
  const webhooks = webhooksOf(registered);
  const called = calledService(registered);
  const [url] = webhooks.flatMap(({ clientConfig }) => clientConfig.url ?? []);
  const namespace = called?.namespace ?? ownNamespace;
  const read = <T>(api: string, kind: string, name: string, what = kind): Promise<Observation<T>> => {
    const list = `${api}${apiPath`/namespaces/${namespace}`}/${kind.toLowerCase()}s`;
    return readOne(client, pathBelow(list, name), `${what} ${namespace}/${name}`);
  };
  const pair = <P, B>(kind: WebhookKind, name: string) => readPair<P, B>(client, kind, name);
  const [ofPods, ofAccount] = installedPolicies;
  const sliceSource = {
    resource: 'endpointslices',
    path: apiPath`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
    query: { labelSelector: `kubernetes.io/service-name=${installedService}` },
    pick: ({ ports, endpoints }: ApiObject & Pick<V1EndpointSlice, 'ports' | 'endpoints'>) => ({
      ports: ports ?? [],
      endpoints: endpoints ?? [],
    }),
  };
  const [deployment, lease, service, slices, pods, serviceAccount, mutating] = await Promise.all([
    read<V1Deployment>('/apis/apps/v1', 'Deployment', installedDeployment),
    read<ManagedLease>('/apis/coordination.k8s.io/v1', 'Lease', leaderLease),
    read<V1Service>('/api/v1', 'Service', installedService),
    observed(readLists(client, [sliceSource]), 'the EndpointSlices of the Service'),
    pair<V1ValidatingAdmissionPolicySpec, V1ValidatingAdmissionPolicyBindingSpec>('validating', ofPods),
    pair<V1ValidatingAdmissionPolicySpec, V1ValidatingAdmissionPolicyBindingSpec>('validating', ofAccount),
    pair<V1MutatingAdmissionPolicySpec, V1MutatingAdmissionPolicyBindingSpec>('mutating', ofPods),
  ]);
  const readSecret = (name: string) => read<V1Secret>('/api/v1', 'Secret', name, 'Certificate: Secret');
  // the API server's time
  const now = new Date(Date.now() + client.clockSkew);
  return {
    namespace,
    // the URL of a server outside the cluster
    url: called === undefined ? url : undefined,
    // our webhooks that call a different server
    elsewhere: webhooks.flatMap(({ name, clientConfig }) =>
      called !== undefined && clientConfig.service?.namespace !== namespace ? [name] : [],
    ),
    service,
    slices,
    deployment,
    certificate: await readCertificate(namespace, deployment, webhooks, now, readSecret),
    policies: { pods, serviceAccount, mutating },
    lease: mapFound(lease, (found) => leaseFacts(found, client.clockSkew)),
    // the policy of the webhook for pods; undefined if not known
    failurePolicy: registered.mutating?.[0]?.failurePolicy,
  };
}

/** A policy and its binding. If the cluster does not know the kind, neither exists. */
export interface PolicyPair<P, B> {
  policy: Observation<{ spec?: P }>;
  binding: Observation<{ spec?: B }>;
}

async function readPair<P, B>(client: ApiClient, kind: WebhookKind, name: string): Promise<PolicyPair<P, B>> {
  const read = <T>(resource: string, what: string): Promise<Observation<T>> =>
    readOne(client, pathBelow(`/apis/admissionregistration.k8s.io/v1/${resource}`, name), what);
  const [policy, binding] = await Promise.all([
    read<{ spec?: P }>(`${kind}admissionpolicies`, `the ${kind} policy ${name}`),
    read<{ spec?: B }>(`${kind}admissionpolicybindings`, `the binding of the ${kind} policy ${name}`),
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
  // the holder's clock sets `renewTime`, the API server's clock sets the time in `managedFields`
  const written = metadata.managedFields?.find(({ fieldsV1 }) => fieldsV1?.['f:spec']?.['f:renewTime']);
  return {
    holder: spec?.holderIdentity ?? '',
    renewed: (Date.parse(written?.time ?? spec?.renewTime ?? '') || 0) - clockSkew,
    duration: (spec?.leaseDurationSeconds ?? 0) * 1000,
  };
}

const serverIn = ({ spec }: V1Deployment) =>
  spec?.template.spec?.containers.find(({ name }) => name === installedDeployment);

/** The version of an installation: the tag of the server's image; undefined without a tag. */
export const versionIn = (deployment: V1Deployment): string | undefined =>
  // a colon before a slash is that of a registry's port, and does not match
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

/** The Secret with the serving certificate, and why the API server does not accept it, by webhook. */
interface CertificateFacts {
  secret: string;
  webhooks: { name: string; fault: string | undefined }[];
  /** Why nothing in the cluster shows the certificate. */
  notShown?: string;
}

/**
 * Reads the certificate in the replicas' Secret, and verifies it as the API server does for each webhook that calls a
 * Service. With managed certificates, the Secret has the authority's certificate: each replica signs its own.
 */
async function readCertificate(
  namespace: string,
  { found: deployment, unknown }: Observation<V1Deployment>,
  webhooks: readonly Webhook[],
  now: Date,
  read: (name: string) => Promise<Observation<V1Secret>>,
): Promise<Observation<CertificateFacts>> {
  if (unknown) return { unknown };
  const at = deployment && servingSecret(deployment);
  const secret = `${namespace}/${at?.name}`;
  const notShown = (why: string) => ({ found: { secret, webhooks: [], notShown: `Certificate: ${why}` } });
  if (at === undefined) return notShown('no Deployment names its Secret');
  const answer = await read(at.name);
  if (answer.unknown) return { unknown: answer.unknown };
  const decoded = (base64 = ''): string => Buffer.from(base64, 'base64').toString();
  const chain = decoded(getOwn(answer.found?.data, at.key));
  // a volume may mount a key under a different file name, so the file's name may not be a key of the Secret
  if (chain === '') return notShown(`Secret ${secret} with key ${at.key} does not exist`);
  const verified = webhooks.flatMap(({ name, clientConfig: { service, caBundle } }) => {
    if (!service) return [];
    const host = at.isAuthority ? undefined : `${service.name}.${service.namespace}.svc`;
    return { name, fault: verifyChain(chain, decoded(caBundle), host, now) };
  });
  return { found: { secret, webhooks: verified } };
}
