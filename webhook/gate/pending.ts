import { readStatus } from '../admission/status.ts';
import { refusedNode } from './refusal.ts';

/** The parts of a pod that {@link pickPending} reads, as the API gives them. */
export interface ApiPendingPod {
  metadata: {
    uid: string;
    resourceVersion: string;
    namespace?: string;
    name: string;
    annotations?: Record<string, string> | null;
  };
  status?: {
    conditions?:
      | { type: string; status: string; message?: string; lastTransitionTime?: string | null }[]
      | null;
  };
}

/** What the gate knows of a pod that is to be bound. */
export interface PendingPod {
  uid: string;
  namespace: string;
  name: string;
  /** The profiles that promise it something, as the webhook wrote them. */
  profiles: string[];
  /** Since when it waits with our refusal as the reason, milliseconds since the epoch; undefined where it does not. */
  heldSince: number | undefined;
  /** The node of that refusal. */
  refused: string | undefined;
}

export function pickPending(pod: ApiPendingPod): PendingPod {
  const { uid, namespace = '', name } = pod.metadata;
  const scheduled = pod.status?.conditions?.find((condition) => condition.type === 'PodScheduled');
  const refused = scheduled?.status === 'False' ? refusedNode(scheduled.message ?? '') : undefined;
  const since = refused === undefined ? undefined : scheduled?.lastTransitionTime;
  return {
    uid,
    namespace,
    name,
    profiles: profilesOf(pod.metadata.annotations),
    heldSince: since === undefined || since === null ? undefined : Date.parse(since),
    refused,
  };
}

/** The profiles that a pod's status annotation names. */
export function profilesOf(annotations: Record<string, string> | null | undefined): string[] {
  const profiles = readStatus({ metadata: { annotations: annotations ?? {} } })?.profiles;
  return Array.isArray(profiles) ? profiles.filter((name) => typeof name === 'string') : [];
}
