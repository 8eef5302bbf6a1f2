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
  /** The profiles that apply to the pod, by its annotation and its init container: see {@link requiredProfiles}. */
  profiles: string[];
  /** Identifies the pod's owner: see {@link ownerKeyOf}. The pods of one owner are expected to pass or fail alike. */
  group: string;
  /** The node in the refusal that the pod's condition PodScheduled shows; undefined if it shows no refusal. */
  refused: string | undefined;
  /** Since when the pod is held, or a later time, in milliseconds since the epoch; undefined if neither is known. */
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
  /** Whether the pod has hard constraints that only the scheduler can judge: see {@link isUnverifiable}. */
  unverifiable: boolean;
  /** Whether the pod's requirements are too large to be kept. Steering leaves such a pod to the scheduler. */
  tooLarge: boolean;
}

/** Returns what is kept of a pod. Its size is bounded for any pod: see `pendingPods` in `webhook/lib/limits.ts`. */
export function toPendingPod(pod: ApiPod): PendingPod {
  const { metadata, spec, status } = pod;
  const { uid, namespace = '', name } = metadata;
  const profiles = requiredProfiles(pod);
  const group = ownerKeyOf(metadata);
  // a copy, because a substring would keep the whole message in memory
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

/** The condition that reports why the scheduler did not schedule the pod; undefined if it did, or has not tried yet. */
export function waitsBy({ status }: Pick<ApiPod, 'status'>) {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return scheduled?.status === 'False' ? scheduled : undefined;
}

/** When a pod's status was last written. The condition's `lastTransitionTime` is when the pod began to wait at all. */
function statusWrittenAt({ metadata }: ApiPod): number | undefined {
  const ofStatus = metadata.managedFields?.filter(({ subresource }) => subresource === 'status') ?? [];
  const times = ofStatus.flatMap(({ time }) => timeOf(time) ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}

const nothingRequired = { constraints: {}, tolerations: [], requests: {} };

const digest = (...texts: string[]): string =>
  createHash('sha256').update(JSON.stringify(texts)).digest('base64url');

/** Whether other pods or devices decide which nodes fit the pod. The scheduler may then ignore a nomination. */
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

/** An upper estimate of the bytes that a pod takes in memory without its requirements. */
const ownWeight = 1024;

/** The memory that a pod's requirements take, in bytes. The requirements are kept as text and as objects. */
export function weightOfKind(kind: string): number {
  // an empty object takes 40 to 60 bytes (measured)
  const values = kind.match(/[{[,]/g)?.length ?? 0;
  return 2 * kind.length + 48 * values;
}
