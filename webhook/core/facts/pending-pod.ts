import { createHash } from 'node:crypto';
import { nameCharacters, pendingPods, planLimits } from '../../lib/limits.ts';
import { countTerms, hasClaims, type Required, requiredOf } from '../scheduling/constraints.ts';
import { type Amounts, podRequests } from '../scheduling/requests.ts';
import type { ApiPod, PodSpec } from './api.ts';
import { type GatePod, toGatePod } from './gate-pod.ts';

/** A pod that waits for a node, with its requirements. */
export interface PendingPod extends GatePod, Required {
  requests: Amounts;
  /** `metadata.resourceVersion`. */
  version: string;
  /** The nominated node of its status; empty without one. */
  nominated: string;
  leaving: boolean;
  /** The key in the work queue: the same for pods of one owner with the same profiles and requirements. */
  key: string;
  /** The memory that it takes, in bytes, as an upper estimate. */
  weight: number;
  /** See {@link hasClaims}. */
  hasVolumes: boolean;
  /** Whether it has hard constraints that only the scheduler can judge: see {@link isUnverifiable}. */
  unverifiable: boolean;
  /** Whether its requirements have too many characters or terms to be kept: it is left to the scheduler. */
  tooLarge: boolean;
}

/** What is kept of a pod. Its size is limited, whatever the pod is: `pendingPods` in `webhook/lib/limits.ts`. */
export function toPendingPod(pod: ApiPod): PendingPod {
  const { metadata, spec, status } = pod;
  const pending = toGatePod(pod);
  const required = { ...requiredOf(spec), requests: podRequests(spec) };
  const kind = JSON.stringify([pending.profiles, required]);
  const terms = countTerms(required) + Object.keys(required.requests).length;
  const tooLarge = kind.length > pendingPods.requiredCharacters || terms > planLimits.terms;
  const hasVolumes = hasClaims(spec.volumes);
  const nominated = status?.nominatedNodeName ?? '';
  return {
    ...pending,
    ...(tooLarge ? nothingRequired : required),
    tooLarge,
    key: `${pending.namespace}/${digest(pending.group, kind)}`,
    weight: ownWeight + (tooLarge ? 0 : weightOfKind(kind)),
    version: metadata.resourceVersion,
    nominated: nominated.length <= nameCharacters ? nominated : '',
    leaving: typeof metadata.deletionTimestamp === 'string',
    hasVolumes,
    unverifiable: hasVolumes || isUnverifiable(spec),
  };
}

const nothingRequired = { constraints: {}, tolerations: [], requests: {} };

const digest = (...texts: string[]): string =>
  createHash('sha256').update(JSON.stringify(texts)).digest('base64url');

/** Whether other pods or devices decide where it fits: the scheduler may then ignore a nomination. */
function isUnverifiable(spec: PodSpec): boolean {
  const { topologySpreadConstraints, affinity, resourceClaims, containers } = spec;
  const isHard = (kind: 'podAffinity' | 'podAntiAffinity'): boolean =>
    (affinity?.[kind]?.requiredDuringSchedulingIgnoredDuringExecution ?? []).length > 0;
  return (
    (topologySpreadConstraints ?? []).some(
      ({ whenUnsatisfiable }) => whenUnsatisfiable !== 'ScheduleAnyway',
    ) ||
    isHard('podAffinity') ||
    isHard('podAntiAffinity') ||
    (resourceClaims ?? []).length > 0 ||
    (containers ?? []).some(({ ports }) => (ports ?? []).some(({ hostPort }) => (hostPort ?? 0) > 0))
  );
}

/** Bytes that a pod takes in memory without its requirements, as an upper estimate. */
const ownWeight = 1024;

/** The memory that requirements take, in bytes: they are kept as text and as objects. */
export function weightOfKind(kind: string): number {
  // an empty object takes 40 to 60 bytes (measured)
  const values = kind.match(/[{[,]/g)?.length ?? 0;
  return 2 * kind.length + 48 * values;
}
