import type { ApiPod } from './api.ts';
import { ownerKeyOf } from './pod-evidence.ts';
import { refusedFor } from './refusal-tag.ts';
import { requiredProfiles } from './status-annotation.ts';
import { timeOf } from './verdict.ts';

/** What the gate knows of a pod that waits for a node. */
export interface GatePod {
  uid: string;
  namespace: string;
  name: string;
  /** The profiles that promise something to the pod: {@link requiredProfiles}. */
  profiles: string[];
  /** Its owner: {@link ownerKeyOf}. The pods of a group are alike and fare alike. */
  group: string;
  /** The node of the refusal that its condition shows; undefined where it shows none. */
  refused: string | undefined;
  /** When that was written, or later, in milliseconds since the epoch; undefined where the pod does not say. */
  heldSince: number | undefined;
}

/** The condition in which the scheduler says why the pod is not scheduled; undefined where it is, or was not tried. */
export function waitsBy({ status }: Pick<ApiPod, 'status'>) {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return scheduled?.status === 'False' ? scheduled : undefined;
}

export function toGatePod(pod: ApiPod): GatePod {
  const { uid, namespace = '', name } = pod.metadata;
  const scheduled = waitsBy(pod);
  // a copy: a part of the message would keep all of it in memory
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

/** When the status of a pod was last written. `lastTransitionTime` is since when the pod waits for any reason. */
function statusWrittenAt({ metadata }: ApiPod): number | undefined {
  const ofStatus = metadata.managedFields?.filter(({ subresource }) => subresource === 'status') ?? [];
  const times = ofStatus.flatMap(({ time }) => timeOf(time) ?? []);
  return times.length === 0 ? undefined : Math.max(...times);
}
