import { type OwnedMetadata, ownerKeyOf } from '../../nodes/evidence/facts.ts';
import type { DaemonSetStatus } from '../../nodes/readiness/state.ts';
import { type AnnotatedPod, requiredProfiles } from '../mutate/status-annotation.ts';
import { refusedFor } from './refusal.ts';

/** The parts of a pod that {@link toGatePod} reads, as the API gives them. */
export interface ApiGatePod extends AnnotatedPod {
  metadata: AnnotatedPod['metadata'] & OwnedMetadata & { resourceVersion: string; name: string };
  spec?: NonNullable<AnnotatedPod['spec']> & { nodeName?: string };
  status?: {
    conditions?:
      | { type: string; status: string; message?: string; lastTransitionTime?: string | null }[]
      | null;
  };
}

/** What the gate knows of a pod that waits for a node. */
export interface GatePod {
  uid: string;
  namespace: string;
  name: string;
  /** The profiles that promise something to the pod: {@link requiredProfiles}. */
  profiles: string[];
  /** Its owner: {@link ownerKeyOf}. The pods of a group are alike and fare alike. */
  group: string;
  /** Since when the pod is held, in milliseconds since the epoch; undefined where the gate did not refuse it. */
  heldSince: number | undefined;
  /** The node of that refusal. */
  refused: string | undefined;
}

/** The condition in which the scheduler says why the pod is not scheduled; undefined where it is, or was not tried. */
export function waitsBy({ status }: Pick<ApiGatePod, 'status'>) {
  const scheduled = status?.conditions?.find(({ type }) => type === 'PodScheduled');
  return scheduled?.status === 'False' ? scheduled : undefined;
}

/** What the gate keeps of a pod. */
export function toGatePod(pod: ApiGatePod): GatePod {
  const { uid, namespace = '', name } = pod.metadata;
  const scheduled = waitsBy(pod);
  // a copy: a part of the message would keep all of it in memory
  const refused = structuredClone(refusedFor(scheduled?.message ?? '')?.node);
  const since = refused && scheduled?.lastTransitionTime;
  return {
    uid,
    namespace,
    name,
    profiles: requiredProfiles(pod),
    group: ownerKeyOf(pod.metadata),
    heldSince: since ? Date.parse(since) : undefined,
    refused,
  };
}

/**
 * When a pod's hold began: when the scheduler first wrote the refusal into the pod's status, or when the DaemonSet
 * reached its state, whichever is later. A time of the DaemonSet that lies in the future is ignored, because a node's
 * clock that is ahead must not extend a hold.
 *
 * @param heldSince milliseconds since the epoch, as `now` and the result
 */
export function holdBegan(heldSince: number, { since, observedAt }: DaemonSetStatus, now: number): number {
  const began = [since, observedAt].find((time) => time !== undefined && time <= now);
  return Math.max(heldSince, began ?? 0);
}
