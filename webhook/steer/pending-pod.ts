import { type ApiGatePod, type GatePod, toGatePod } from '../gate/gate-pod.ts';
import { nameCharacters, pendingPods, planLimits } from '../lib/limits.ts';
import type { Amounts } from '../scheduling/amounts.ts';
import type { NodeConstraints } from '../scheduling/node-selector.ts';
import { type Asking, podRequests, type RequestingSpec } from '../scheduling/requests.ts';
import type { Toleration } from '../scheduling/taints.ts';
import { type ApiNeighbourly, type Neighbours, pickNeighbours } from './neighbours.ts';
import { countTerms } from './terms.ts';

/** The parts of a pod that {@link toPendingPod} reads, as the API gives them. */
export interface ApiPendingPod extends ApiGatePod {
  metadata: ApiGatePod['metadata'] & {
    deletionTimestamp?: string | null;
    labels?: Record<string, string>;
    ownerReferences?: { uid: string; controller?: boolean | null }[] | null;
  };
  spec: ApiPendingSpec;
  status?: ApiGatePod['status'] & { nominatedNodeName?: string };
}

interface ApiPendingSpec extends RequestingSpec, Pick<ApiNeighbourly, 'topologySpreadConstraints'> {
  nodeSelector?: Record<string, string> | null;
  affinity?: (NodeConstraints['affinity'] & ApiNeighbourly['affinity'] & { podAffinity?: Terms }) | null;
  tolerations?: Toleration[] | null;
  resourceClaims?: unknown[] | null;
  containers?: (Asking & { ports?: { hostPort?: number }[] | null })[];
  initContainers?: (Asking & PromisingContainer)[] | null;
  volumes?:
    | { name: string; persistentVolumeClaim?: { claimName: string } | null; ephemeral?: unknown }[]
    | null;
}

type PromisingContainer = NonNullable<NonNullable<ApiGatePod['spec']>['initContainers']>[number];

type Terms = { requiredDuringSchedulingIgnoredDuringExecution?: unknown[] | null } | null;

/** A pod that waits for a node, with all that says where it could go. */
export interface PendingPod extends GatePod {
  /** `metadata.resourceVersion`. */
  version: string;
  /** The node that somebody nominated for it; empty where nobody did. */
  nominated: string;
  /** On its way out. */
  leaving: boolean;
  /** Whose pods are alike and fare alike: the UID of its controller, or its own. */
  group: string;
  constraints: NodeConstraints;
  tolerations: Toleration[];
  requests: Amounts;
  /** The same for pods that ask for the same of a node. */
  kind: string;
  /** Names of its PersistentVolumeClaims. */
  claims: string[];
  /** What it wants of the pods beside it. */
  neighbours: Neighbours;
  /** Whether it has hard constraints that only the scheduler can judge: see {@link isUnverifiable}. */
  unverifiable: boolean;
  /** Whether it asks for its node in too many characters or terms: it is left to the scheduler, and they are not kept. */
  tooLarge: boolean;
}

export function toPendingPod(pod: ApiPendingPod): PendingPod {
  const { metadata, spec, status } = pod;
  const { nodeSelector, affinity, tolerations, volumes } = spec;
  const pending = toGatePod(pod);
  const asked = {
    constraints: {
      nodeSelector: nodeSelector ?? {},
      affinity: { nodeAffinity: affinity?.nodeAffinity ?? null },
    },
    tolerations: tolerations ?? [],
    requests: podRequests(spec),
  };
  const neighbours = pickNeighbours(spec, metadata.namespace ?? '', metadata.labels ?? {});
  const kind = JSON.stringify([pending.profiles, asked]);
  const claims = (volumes ?? []).flatMap(({ name, persistentVolumeClaim, ephemeral }) => {
    if (persistentVolumeClaim) return [persistentVolumeClaim.claimName];
    // the claim of a generic ephemeral volume is named after both: kubernetes.io, Ephemeral Volumes
    return ephemeral ? [`${metadata.name}-${name}`] : [];
  });
  const characters = claims.reduce(
    (total, { length }) => total + length,
    kind.length + neighbours.kind.length,
  );
  const tooLarge =
    characters > pendingPods.askedCharacters ||
    claims.length > pendingPods.claims ||
    countTerms({ ...asked, neighbours }) > planLimits.terms;
  return {
    ...pending,
    ...(tooLarge ? nothingAsked : { ...asked, kind, neighbours, claims }),
    tooLarge,
    version: metadata.resourceVersion,
    nominated: shortOf(status?.nominatedNodeName ?? '', ''),
    leaving: typeof metadata.deletionTimestamp === 'string',
    group: groupOf(metadata),
    unverifiable: isUnverifiable(spec),
  };
}

const nothingAsked = {
  constraints: {},
  tolerations: [],
  requests: {},
  kind: '',
  neighbours: { spread: [], apart: [], kind: '' },
  claims: [],
};

const shortOf = (text: string, other: string): string => (text.length <= nameCharacters ? text : other);

/** Bytes that a pod takes in memory, its names and the object itself included: an estimate that is not too small. */
const ownWeight = 1024;

/** How much memory a pod takes, in bytes, estimated. */
export function weightOf({ kind, neighbours, claims }: PendingPod): number {
  const asked = kind + neighbours.kind;
  // what it asks for is kept as text and as objects, of which an empty one takes 40 to 60 bytes (measured)
  const values = asked.match(/[{[,]/g)?.length ?? 0;
  const names = claims.reduce((total, { length }) => total + length + 64, 0);
  return ownWeight + 2 * asked.length + 48 * values + names;
}

/** The group of a pod: {@link PendingPod.group}. */
export function groupOf({ uid, ownerReferences }: ApiPendingPod['metadata']): string {
  return shortOf(ownerReferences?.find(({ controller }) => controller === true)?.uid ?? uid, uid);
}

/**
 * Whether a pod's place depends on which other pods are where, or on devices: constraints that are reckoned with only in
 * part, as {@link isHopeless}, or not at all. A nomination may be ignored for their sake, so it is tried on one pod of
 * the group first.
 */
function isUnverifiable(spec: ApiPendingSpec): boolean {
  const { topologySpreadConstraints, affinity, resourceClaims, containers } = spec;
  const isHard = (terms: Terms | undefined): boolean =>
    (terms?.requiredDuringSchedulingIgnoredDuringExecution ?? []).length > 0;
  return (
    (topologySpreadConstraints ?? []).some(
      ({ whenUnsatisfiable }) => whenUnsatisfiable !== 'ScheduleAnyway',
    ) ||
    isHard(affinity?.podAffinity) ||
    isHard(affinity?.podAntiAffinity) ||
    (resourceClaims ?? []).length > 0 ||
    (containers ?? []).some(({ ports }) => (ports ?? []).some(({ hostPort }) => (hostPort ?? 0) > 0))
  );
}
