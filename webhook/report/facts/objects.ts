import type { ApiObject } from '../../cluster/informer/object.ts';
import type { Lease } from '../../cluster/lease/lease.ts';
import { defaultPort, installedDeployment } from '../../lib/names.ts';
import { type ApiPolicySpec, conditionDigests, policyDigest } from './digests.ts';

/** What is read of our Deployment, as the API gives it. */
export interface ApiDeployment {
  metadata: { generation?: number };
  spec: { replicas?: number | null; template: { spec?: ApiPodSpec | null } };
  status?: {
    observedGeneration?: number;
    readyReplicas?: number;
    updatedReplicas?: number;
    conditions?: { type: string; status: string; reason?: string; message?: string }[] | null;
  } | null;
}

interface ApiPodSpec {
  serviceAccountName?: string | null;
  containers?:
    | {
        name?: string;
        image?: string;
        args?: string[] | null;
        ports?: { containerPort: number }[] | null;
        volumeMounts?: { name: string; mountPath: string }[] | null;
      }[]
    | null;
  volumes?:
    | {
        name: string;
        secret?: { secretName?: string; items?: { key: string; path: string }[] | null } | null;
      }[]
    | null;
}

/** What is kept of our Deployment. */
export type DeploymentFacts = ReturnType<typeof pickDeployment>;

/** Picks what is kept of our Deployment. */
export function pickDeployment({ metadata, spec, status }: ApiDeployment) {
  const secret = servingSecret(spec);
  const { observedGeneration = 0, readyReplicas = 0, updatedReplicas = 0, conditions } = status ?? {};
  // a status that is older than the spec is about other pods
  const isOld = observedGeneration < (metadata.generation ?? 0);
  const stuck = conditions?.find(
    ({ type, status: is, reason }) =>
      type === 'Progressing' && is === 'False' && reason === 'ProgressDeadlineExceeded',
  );
  const image = spec.template.spec?.containers?.find(({ name }) => name === installedDeployment)?.image;
  // without the digest; a port of the registry comes before a slash
  const version = /:([^:/]+)$/.exec(image?.split('@')[0] ?? '')?.[1];
  return {
    desired: spec.replicas ?? 1,
    ready: readyReplicas,
    updated: isOld ? 0 : updatedReplicas,
    // where a rollout got stuck
    stuck: stuck && (stuck.message ?? 'it made no progress in time'),
    // TCP ports on which its containers may answer calls; not known while not all replicas are of this template
    ...(!isOld && updatedReplicas >= (spec.replicas ?? 1) && { ports: listeningPorts(spec) }),
    ...(version !== undefined && { version }),
    account: spec.template.spec?.serviceAccountName ?? 'default',
    ...(secret && { secret }),
  };
}

/** The port of the server, and those of other containers, which may stand before it. */
function listeningPorts({ template }: ApiDeployment['spec']): number[] {
  return (template.spec?.containers ?? []).flatMap(({ name, args, ports }) =>
    name === installedDeployment
      ? [Number(flagOf(args ?? [], '--port') ?? defaultPort)]
      : (ports ?? []).map(({ containerPort }) => containerPort),
  );
}

/**
 * The Secret from which the Deployment's replicas have their serving certificate: that of `--tls-secret`, or the one
 * behind the volume that holds the file of `--tls-cert`. Undefined where the Deployment does not say.
 */
function servingSecret(
  spec: ApiDeployment['spec'],
): { name: string; key: string; isAuthority: boolean } | undefined {
  const { containers, volumes } = spec.template.spec ?? {};
  for (const { args, volumeMounts } of containers ?? []) {
    const managed = flagOf(args ?? [], '--tls-secret');
    if (managed !== undefined) return { name: managed, key: 'tls.crt', isAuthority: true };
    const file = flagOf(args ?? [], '--tls-cert');
    const mount = volumeMounts?.find(({ mountPath }) => file?.startsWith(`${mountPath}/`));
    const secret = volumes?.find(({ name }) => name === mount?.name)?.secret;
    if (file === undefined || mount === undefined || !secret?.secretName) continue;
    const path = file.slice(mount.mountPath.length + 1);
    const key = secret.items?.find((item) => item.path === path)?.key ?? path;
    return { name: secret.secretName, key, isAuthority: false };
  }
  return undefined;
}

/** The value of a flag, written as `--flag=value` or as two arguments. */
function flagOf(args: readonly string[], flag: string): string | undefined {
  for (const [at, arg] of args.entries()) {
    if (arg.startsWith(`${flag}=`)) return arg.slice(flag.length + 1);
    if (arg === flag) return args[at + 1];
  }
  return undefined;
}

/** The Lease of the replica that leads; times in milliseconds since the epoch. */
export type LeaseFacts = ReturnType<typeof pickLease>;

/** @param clockSkew the API server's clock minus ours, in milliseconds: the holder's clock is taken to agree with it */
export function pickLease({ spec }: Lease, clockSkew: number) {
  const renewed = Date.parse(spec?.renewTime ?? '');
  return {
    holder: spec?.holderIdentity ?? '',
    renewed: Number.isNaN(renewed) ? undefined : renewed - clockSkew,
    duration: (spec?.leaseDurationSeconds ?? 0) * 1000,
  };
}

/** The part of a ValidatingAdmissionPolicy that is read. */
export interface ApiPolicy {
  spec: ApiPolicySpec;
}

/** What is kept of a policy. */
export type PolicyFacts = ReturnType<typeof pickPolicy>;

/** Picks what is kept of a policy. */
export const pickPolicy = ({ spec }: ApiPolicy) => ({
  digest: policyDigest(spec),
  conditions: conditionDigests(spec),
  // as manifests from before the first release had: docs/reference/upstream-faults.md
  hasParams: !!spec.paramKind,
  ...(spec.failurePolicy && { failurePolicy: spec.failurePolicy }),
});

/** The part of a ValidatingAdmissionPolicyBinding that is read. */
export interface ApiBinding {
  spec: {
    policyName: string;
    validationActions?: string[] | null;
    matchResources?: object | null;
  };
}

/** What is kept of a binding. */
export type BindingFacts = ReturnType<typeof pickBinding>;

/** Picks what is kept of a binding. */
export const pickBinding = ({ spec }: ApiBinding) => ({
  policyName: spec.policyName,
  actions: spec.validationActions ?? [],
  // by `matchResources` of its own, which take pods out of what the policy looks at
  narrowed: narrows(spec.matchResources),
});

/** The API server may fill in empty selectors; anything in them leaves objects out. */
function narrows(resources: object | null | undefined): boolean {
  const { matchPolicy: _, ...rest } = { matchPolicy: undefined, ...resources };
  return Object.values(rest).some((value) =>
    typeof value === 'object' && value !== null ? Object.keys(value).length > 0 : value !== undefined,
  );
}

/** What a port of a Service and the port of its EndpointSlices have in common. */
interface ApiPort {
  name?: string | null;
  /** `TCP` where it is missing. */
  protocol?: string | null;
}

/** The part of a Service that is read. */
export interface ApiService {
  spec: { type?: string; externalName?: string; ports?: (ApiPort & { port: number })[] | null };
}

/** What is kept of a Service. */
export const pickService = ({ spec: { type, externalName, ports } }: ApiService) => ({
  ports: (ports ?? []).map(({ port }) => port),
  externalName: type === 'ExternalName' ? (externalName ?? '') : undefined,
});

/** https://kubernetes.io/docs/reference/kubernetes-api/service-resources/endpoint-slice-v1/ */
export interface ApiEndpointSlice extends ApiObject {
  /** Null where the Service's `targetPort` names no port of the pods. */
  ports?: (ApiPort & { port?: number | null })[] | null;
  endpoints?: { conditions?: { ready?: boolean | null } | null }[] | null;
}

type Slice = ReturnType<typeof pickSlice>;

/** The ports of an EndpointSlice and, for each endpoint, whether it is ready: also one that does not say so. */
export const pickSlice = ({ endpoints, ports }: ApiEndpointSlice) => ({
  ports: tcpPorts(ports ?? []).flatMap(({ name, port }) => (typeof port === 'number' ? { name, port } : [])),
  ready: (endpoints ?? []).map(({ conditions }) => conditions?.ready !== false),
});

/**
 * Counts the endpoints of a Service: all, those with a TCP port for the port that webhooks call, and how many of these
 * are ready. Names that port of theirs.
 */
export function pickEndpoints(slices: readonly Slice[], service: ApiService | undefined, port: number) {
  const called = tcpPorts(service?.spec.ports?.filter((one) => one.port === port) ?? []);
  const portsOf = (slice: Slice): number[] =>
    slice.ports.flatMap((one) => (called.some(({ name }) => name === one.name) ? one.port : []));
  const serving = slices.filter((slice) => portsOf(slice).length > 0);
  const ready = serving.flatMap((slice) => slice.ready);
  return {
    all: slices.reduce((sum, slice) => sum + slice.ready.length, 0),
    withPort: ready.length,
    ready: ready.filter(Boolean).length,
    targetPorts: [...new Set(serving.flatMap(portsOf))],
  };
}

/** The TCP ports; a port may have the empty name. */
const tcpPorts = <P extends ApiPort>(ports: readonly P[]): (P & { name: string })[] =>
  ports.flatMap((port) => ((port.protocol ?? 'TCP') === 'TCP' ? { ...port, name: port.name ?? '' } : []));
