import { posix } from 'node:path';
import type {
  V1Deployment,
  V1EndpointSlice,
  V1MutatingWebhook,
  V1Secret,
  V1Service,
  V1ValidatingAdmissionPolicyBindingSpec,
  V1ValidatingAdmissionPolicySpec,
} from '@kubernetes/client-node';
import { apiPath, pathBelow } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
import type { ApiObject } from '../../cluster/informer/object.ts';
import type { Lease } from '../../cluster/leadership.ts';
import {
  installedDeployment,
  installedPolicies,
  installedService,
  leaderLease,
  webhookConfiguration,
} from '../../lib/names.ts';
import { type Observation, readLists, readOne } from './observation.ts';

/** A mutating or validating webhook, as the API returns it. */
export type Webhook = V1MutatingWebhook;

/** The spec of a policy. A mutating policy's spec is compared field by field, so this type serves both kinds. */
export type PolicySpec = V1ValidatingAdmissionPolicySpec;

/** A policy and its binding. If the cluster does not know the kind, neither exists. */
export interface PolicyPair {
  policy: Observation<{ spec?: PolicySpec }>;
  binding: Observation<{ spec?: V1ValidatingAdmissionPolicyBindingSpec }>;
}

const registration = '/apis/admissionregistration.k8s.io/v1';

/** The objects of the installation on which admission depends. */
export type InstallationFacts = Awaited<ReturnType<typeof readInstallation>>;

/** @param ownNamespace used if no webhook calls a Service @throws ClusterError if the cluster does not answer */
export async function readInstallation(client: ApiClient, ownNamespace: string) {
  const registered = <T>(resource: string, name: string): Promise<Observation<T>> =>
    readOne(client, pathBelow(`${registration}/${resource}`, name), `${resource}/${name}`);
  const webhooksOf = async (kind: string): Promise<Observation<Webhook[]>> => {
    const resource = `${kind}webhookconfigurations`;
    const { found, ...rest } = await registered<{ webhooks?: Webhook[] }>(resource, webhookConfiguration);
    return found ? { found: found.webhooks ?? [] } : rest;
  };
  const pair = async (kind: string, name: string): Promise<PolicyPair> => ({
    policy: await registered(`${kind}admissionpolicies`, name),
    binding: await registered(`${kind}admissionpolicybindings`, name),
  });
  const [ofPods, ofAccount] = installedPolicies;
  const [mutating, validating, injecting, pods, serviceAccount] = await Promise.all([
    webhooksOf('mutating'),
    webhooksOf('validating'),
    pair('mutating', ofPods),
    pair('validating', ofPods),
    pair('validating', ofAccount),
  ]);
  // cni-gate is installed in the namespace of the Service that its webhooks call
  const webhooks = [...(mutating.found ?? []), ...(validating.found ?? [])];
  const [called] = webhooks.flatMap(({ clientConfig }) => clientConfig.service ?? []);
  const namespace = called?.namespace ?? ownNamespace;
  const read = <T>(api: string, kind: string, name: string): Promise<Observation<T>> => {
    const list = `${api}${apiPath`/namespaces/${namespace}`}/${kind.toLowerCase()}s`;
    return readOne(client, pathBelow(list, name), `${kind} ${namespace}/${name}`);
  };
  const sliceSource = {
    resource: 'endpointslices',
    path: apiPath`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`,
    query: { labelSelector: `kubernetes.io/service-name=${installedService}` },
    pick: ({ ports, endpoints }: ApiObject & Pick<V1EndpointSlice, 'ports' | 'endpoints'>) => ({
      ports: ports ?? [],
      endpoints: endpoints ?? [],
    }),
  };
  const [deployment, lease, service, slices] = await Promise.all([
    read<V1Deployment>('/apis/apps/v1', 'Deployment', installedDeployment),
    read<Lease>('/apis/coordination.k8s.io/v1', 'Lease', leaderLease),
    read<V1Service>('/api/v1', 'Service', installedService),
    readLists(client, [sliceSource], 'the EndpointSlices of the Service'),
  ]);
  const { name: secretName } = (deployment.found && servingSecret(deployment.found)) ?? {};
  const secret = secretName === undefined ? {} : await read<V1Secret>('/api/v1', 'Secret', secretName);
  return {
    namespace,
    mutating,
    validating,
    policies: { mutating: injecting, pods, serviceAccount },
    deployment,
    lease,
    service,
    slices,
    secret,
  };
}

const serverIn = ({ spec }: V1Deployment) =>
  spec?.template.spec?.containers.find(({ name }) => name === installedDeployment);

/** The version of an installation: the tag of the server's image; undefined without a tag. */
export const versionIn = (deployment: V1Deployment): string | undefined =>
  // a colon before a slash is that of a registry's port, and does not match
  /:([^:/]+)$/.exec(serverIn(deployment)?.image?.split('@')[0] ?? '')?.[1];

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
