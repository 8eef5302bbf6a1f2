import type { Policy } from '../config/policy.ts';
import { messageOf } from '../errors.ts';
import type { Readiness } from '../readiness/readiness.ts';
import { decidePlacement, doubt, type GateDecision } from './decide.ts';
import type { PendingPod } from './pending.ts';
import { decodePlacement, type Placement } from './placement.ts';

/** Where pods that wait for a node are known from. A source that has to ask somebody returns a promise. */
export interface PendingPods {
  /** The pod, or undefined where there is none of that name, or one with another UID than a given one. */
  pod(
    namespace: string,
    name: string,
    uid: string,
    signal?: AbortSignal,
  ): PendingPod | undefined | Promise<PendingPod | undefined>;
}

/** What `/gate` works with. */
export interface GateSources {
  policy: Policy;
  readiness: Readiness;
  pods: PendingPods;
  /** What has not been listed yet, for people; undefined once nodes, DaemonSets and their pods are known. */
  unsynced: () => string | undefined;
}

export interface Gated {
  request: Placement;
  decision: GateDecision;
}

/**
 * Answers the body of an admission call of `/gate`.
 *
 * @param body parsed JSON
 * @param now milliseconds since the epoch
 * @param signal aborted when the API server is about to stop waiting
 * @throws CniGateError where the body is neither about a Binding nor about a Pod
 */
export async function gate(
  body: unknown,
  sources: GateSources,
  now: number,
  signal?: AbortSignal,
): Promise<Gated> {
  const request = decodePlacement(body);
  const { policy, readiness, pods, unsynced } = sources;
  const missing = unsynced();
  if (missing !== undefined) {
    return { request, decision: doubt('not-synced', `not all is known here yet: ${missing}`) };
  }
  const { namespace, name, podUid, profiles } = request;
  try {
    const found =
      profiles === undefined ? pods.pod(namespace, name, podUid, signal) : { profiles, heldSince: undefined };
    const pod = found instanceof Promise ? await found : found;
    return { request, decision: decidePlacement(request, pod, { policy, readiness, now }) };
  } catch (error) {
    // the gate may fail open, the proof never does
    return { request, decision: doubt('pod-unknown', messageOf(error)) };
  }
}
