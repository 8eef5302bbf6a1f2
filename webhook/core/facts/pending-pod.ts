import { createHash } from 'node:crypto';
import { nameCharacters, pendingPods, planLimits } from '../../lib/limits.ts';
import { countTerms, hasClaims, type Required, requiredOf } from '../scheduling/constraints.ts';
import { type Amounts, podRequests } from '../scheduling/requests.ts';
import type { ApiPod, PodSpec } from './api.ts';
import { ownerKeyOf } from './pod-evidence.ts';
import { refusedFor } from './refusal-tag.ts';
import { requiredProfiles } from './status-annotation.ts';
import { timeOf } from './verdict.ts';

/** What the gate and steering know about a pod that waits for a node. */
export interface PendingPod extends Required {
  uid: string;
  namespace: string;
  name: string;
  /** The profiles that the pod's annotation and init container name: see {@link requiredProfiles}. */
  profiles: string[];
  /** Identifies the pod's owner: see {@link ownerKeyOf}. Usually, either all pods of an owner pass, or all fail. */
  group: string;
  /** The node that the refusal in the pod's condition PodScheduled names; undefined without a refusal. */
  refused: string | undefined;
  /** When the hold began, or a later time if the start is unknown, in milliseconds since the epoch. */
  heldSince: number | undefined;
  requests: Amounts;
  /** `metadata.resourceVersion`. */
  version: string;
  /** The node that the pod's status nominates; empty if it nominates none. */
  nominated: string;
  leaving: boolean;
  /** The pod's key in the work queue. Pods of one owner with the same profiles and requirements share a key. */
  key: string;
  /** An upper estimate of the memory that these facts take, in bytes. */
  weight: number;
  /** Whether the pod has PersistentVolumeClaims: see {@link hasClaims}. */
  hasVolumes: boolean;
  /** Whether the pod has claims, or constraints that only the scheduler can check: see {@link isUnverifiable}. */
  unverifiable: boolean;
  /** Whether the pod's requirements are too large to keep. Steering does not nominate a node for such a pod. */
  tooLarge: boolean;
}

/** Returns the facts kept about a pod. Their size is bounded: see `pendingPods` in `webhook/lib/limits.ts`. */
export function toPendingPod(pod: ApiPod): PendingPod {
  const { metadata, spec, status } = pod;
  const { uid, namespace = '', name } = metadata;
  const profiles = requiredProfiles(pod);
  const group = ownerKeyOf(metadata);
  // a copy, because V8 would keep the whole message in memory for a substring
  const refused = structuredClone(refusedFor(waitsBy(pod)?.message ?? '')?.node);
  const required = { ...requiredOf(spec), requests: podRequests(spec) };
  const kind = JSON.stringify([profiles, required]);
  const terms = countTerms(required) + Object.keys(required.requests).length;
  const tooLarge = kind.length > pendingPods.requiredCharacters || terms > planLimits.terms;
  const hasVolumes = hasClaims(spec.volumes);
  const nominated = status?.nominatedNodeName ?? '';
  return {
    ...{ uid, namespace, name, profiles, group, refused },
    heldSince: refused === undefined ? undefined : statusWrittenAt(pod),
    ...(tooLarge ? nothingRequired : required),
    tooLarge,
    key: `${namespace}/${digest(group, kind)}`,
    weight: ownWeight + (tooLarge ? 0 : weightOfKind(kind)),
    version: metadata.resourceVersion,
    nominated: nominated.length <= nameCharacters ? nominated : '',
    leaving: typeof metadata.deletionTimestamp === 'string',
    hasVolumes,
    unverifiable: hasVolumes || isUnverifiable(spec),
  };
}

/** The condition that says why a pod is not scheduled; undefined if it is scheduled or has no condition. */
export function waitsBy({ status }: Pick<ApiPod, 'status'>) {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return scheduled?.status === 'False' ? scheduled : undefined;
}

/** When the pod's status was last written. The condition's `lastTransitionTime` does not change with a new refusal. */
function statusWrittenAt({ metadata }: ApiPod): number | undefined {
  const ofStatus = metadata.managedFields?.filter(({ subresource }) => subresource === 'status') ?? [];
  const times = ofStatus.flatMap(({ time }) => timeOf(time) ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}

const nothingRequired = { constraints: {}, tolerations: [], requests: {} };

const digest = (...texts: string[]): string =>
  createHash('sha256').update(JSON.stringify(texts)).digest('base64url');

/** Whether the pod has constraints that steering does not check, so the scheduler may ignore a nomination. */
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

/** The memory that a pod takes without its requirements, in bytes; an upper estimate. */
const ownWeight = 1024;

/** The memory that a pod's requirements take, in bytes. The requirements are kept as text and as objects. */
export function weightOfKind(kind: string): number {
  // an empty object takes 40 to 60 bytes (measured)
  const values = kind.match(/[{[,]/g)?.length ?? 0;
  return 2 * kind.length + 48 * values;
}
