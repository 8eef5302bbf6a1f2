import type { ApiPod } from './api.ts';
import { ownerKeyOf } from './pod-evidence.ts';
import { refusedFor } from './refusal-tag.ts';
import { requiredProfiles } from './status-annotation.ts';
import { timeOf } from './verdict.ts';

/** What the gate knows about a pod that waits for a node. */
export interface GatePod {
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
}

/** The condition that reports why the scheduler did not schedule the pod; undefined if it did, or has not tried yet. */
export function waitsBy({ status }: Pick<ApiPod, 'status'>) {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return scheduled?.status === 'False' ? scheduled : undefined;
}

export function toGatePod(pod: ApiPod): GatePod {
  const { uid, namespace = '', name } = pod.metadata;
  const scheduled = waitsBy(pod);
  // a copy, because a substring would keep the whole message in memory
  const refused = structuredClone(refusedFor(scheduled?.message ?? '')?.node);
  return {
    uid,
    namespace,
    name,
    profiles: requiredProfiles(pod),
    group: ownerKeyOf(pod.metadata),
    refused,
    heldSince: refused === undefined ? undefined : statusWrittenAt(pod),
  };
}

/** When a pod's status was last written. The condition's `lastTransitionTime` is when the pod began to wait at all. */
function statusWrittenAt({ metadata }: ApiPod): number | undefined {
  const ofStatus = metadata.managedFields?.filter(({ subresource }) => subresource === 'status') ?? [];
  const times = ofStatus.flatMap(({ time }) => timeOf(time) ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}
