import { messageOf } from '../lib/errors.ts';
import { decidePlacement, doubt, type GateContext, type GateDecision, notSyncedDoubt } from './decide.ts';
import type { GatePod } from './gate-pod.ts';
import { decodePlacement, type Placement } from './placement.ts';

/** Where pods that wait for a node are known from. A source that has to ask somebody returns a promise. */
export interface PendingPods {
  /**
   * The pod, or undefined where there is none of that name, or one with another UID than a given one.
   *
   * @param caller address of who wants to know: callers share what may be asked
   */
  pod(
    namespace: string,
    name: string,
    uid: string,
    caller?: string,
  ): GatePod | undefined | Promise<GatePod | undefined>;
}

/** What `/gate` works with. */
export interface GateSources extends Omit<GateContext, 'now'> {
  pods: PendingPods;
  /** What has not been listed yet, for people; undefined once nodes, DaemonSets and their pods are known. */
  unsynced: () => string | undefined;
  /** Address of who calls. */
  caller?: string | undefined;
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
 * @throws CniGateError where the body is neither about a Binding nor about a Pod
 */
export async function gate(body: unknown, sources: GateSources, now: number): Promise<Gated> {
  const request = decodePlacement(body);
  const { policy, pods, unsynced, notSynced, caller } = sources;
  const missing = unsynced();
  // where nothing could be said of any pod, nobody is asked for one
  if (
    missing !== undefined &&
    [...policy.profiles.values()].every(({ daemonSets }) => daemonSets.every(notSynced))
  ) {
    return { request, decision: notSyncedDoubt(missing) };
  }
  const { namespace, name, podUid, profiles } = request;
  try {
    const found =
      profiles === undefined ? pods.pod(namespace, name, podUid, caller) : { profiles, heldSince: undefined };
    const pod = found instanceof Promise ? await found : found;
    return { request, decision: decidePlacement(request, pod, { ...sources, now }) };
  } catch (error) {
    // the gate may fail open, the proof never does
    return { request, decision: doubt('pod-unknown', messageOf(error)) };
  }
}
