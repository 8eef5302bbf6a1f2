import { type ApiGatePod, type GatePod, toGatePod } from '../gate/gate-pod.ts';
import { nameCharacters, pendingPods, planLimits } from '../lib/limits.ts';
import type { Amounts } from '../scheduling/amounts.ts';
import type { NodeConstraints } from '../scheduling/node-selector.ts';
import { type Asking, podRequests, type RequestingSpec } from '../scheduling/requests.ts';
import type { Toleration } from '../scheduling/taints.ts';

/** The parts of a pod that {@link toPendingPod} reads, as the API gives them. */
export interface ApiPendingPod extends ApiGatePod {
  metadata: ApiGatePod['metadata'] & {
    deletionTimestamp?: string | null;
    labels?: Record<string, string>;
  };
  spec: ApiPendingSpec;
  status?: ApiGatePod['status'] & { nominatedNodeName?: string };
}

interface ApiPendingSpec extends RequestingSpec {
  nodeSelector?: Record<string, string> | null;
  affinity?: (NodeConstraints['affinity'] & { podAffinity?: Terms; podAntiAffinity?: Terms }) | null;
  tolerations?: Toleration[] | null;
  topologySpreadConstraints?: { whenUnsatisfiable?: string }[] | null;
  resourceClaims?: unknown[] | null;
  containers?: (Asking & { ports?: { hostPort?: number }[] | null })[];
  initContainers?: (Asking & InitContainer)[] | null;
  volumes?: { name: string; persistentVolumeClaim?: unknown; ephemeral?: unknown }[] | null;
}

type InitContainer = NonNullable<NonNullable<ApiGatePod['spec']>['initContainers']>[number];

type Terms = { requiredDuringSchedulingIgnoredDuringExecution?: unknown[] | null } | null;

/** What a pod requires of a node. */
interface Required {
  constraints: NodeConstraints;
  tolerations: Toleration[];
  requests: Amounts;
}

/** A pod that waits for a node, with its requirements. */
export interface PendingPod extends GatePod, Required {
  /** `metadata.resourceVersion`. */
  version: string;
  /** The node that somebody nominated for it; empty where nobody did. */
  nominated: string;
  /** Whether it is being deleted. */
  leaving: boolean;
  /** The same for pods with the same requirements. */
  kind: string;
  /** Whether it has PersistentVolumeClaims. Their volumes are mostly usable in one zone. */
  hasVolumes: boolean;
  /** Whether it has hard constraints that only the scheduler can judge: see {@link isUnverifiable}. */
  unverifiable: boolean;
  /** Whether its requirements have too many characters or terms. They are not kept, and it is left to the scheduler. */
  tooLarge: boolean;
}

/** What is kept of a pod. Its size is limited, whatever the pod is: `pendingPods` in `webhook/lib/limits.ts`. */
export function toPendingPod(pod: ApiPendingPod): PendingPod {
  const { metadata, spec, status } = pod;
  const pending = toGatePod(pod);
  const required: Required = {
    constraints: {
      nodeSelector: spec.nodeSelector ?? {},
      affinity: { nodeAffinity: spec.affinity?.nodeAffinity ?? null },
    },
    tolerations: spec.tolerations ?? [],
    requests: podRequests(spec),
  };
  const kind = JSON.stringify([pending.profiles, required]);
  const tooLarge = kind.length > pendingPods.requiredCharacters || countTerms(required) > planLimits.terms;
  const hasVolumes = (spec.volumes ?? []).some(({ persistentVolumeClaim, ephemeral }) =>
    Boolean(persistentVolumeClaim || ephemeral),
  );
  return {
    ...pending,
    ...(tooLarge ? nothingRequired : { ...required, kind }),
    tooLarge,
    version: metadata.resourceVersion,
    nominated: shortOf(status?.nominatedNodeName ?? '', ''),
    leaving: typeof metadata.deletionTimestamp === 'string',
    hasVolumes,
    unverifiable: hasVolumes || isUnverifiable(spec),
  };
}

const nothingRequired = { constraints: {}, tolerations: [], requests: {}, kind: '' };

const shortOf = (text: string, other: string): string => (text.length <= nameCharacters ? text : other);

/**
 * The number of terms in a pod's requirements. Each is compared with every node, so `planLimits.terms` limits them. A
 * list of values counts once.
 */
function countTerms({ constraints, tolerations, requests }: Required): number {
  const required = constraints.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const affinity = (required?.nodeSelectorTerms ?? []).reduce(
    // an empty term is compared as well
    (sum, { matchExpressions, matchFields }) =>
      sum + Math.max(1, (matchExpressions ?? []).length + (matchFields ?? []).length),
    0,
  );
  const selector = Object.keys(constraints.nodeSelector ?? {}).length;
  return selector + affinity + tolerations.length + Object.keys(requests).length;
}

/**
 * Whether it depends on other pods or on devices where the pod fits. The scheduler may ignore a nomination because of
 * them, so one pod of the group is tried first.
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

/** Bytes that a pod takes in memory without its requirements, as an upper estimate. */
const ownWeight = 1024;

/** The memory that a pod takes, in bytes, as an upper estimate. */
export function weightOf({ kind }: PendingPod): number {
  // requirements are kept as text and as objects, of which an empty one takes 40 to 60 bytes (measured)
  const values = kind.match(/[{[,]/g)?.length ?? 0;
  return ownWeight + 2 * kind.length + 48 * values;
}
