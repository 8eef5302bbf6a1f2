import type { Policy } from '../../config/policy.ts';
import { messageOf } from '../../lib/errors.ts';
import type { ClusterView } from './cluster-view.ts';
import { allowUnknown, decidePlacement, type GateDecision } from './decide.ts';
import { decodePlacement, type Placement } from './placement.ts';

/** The part of a {@link ClusterView} that `/gate` reads. */
export type GateView = Pick<
  ClusterView,
  'readiness' | 'evidence' | 'pods' | 'unsynced' | 'notSynced' | 'notObservedSince'
>;

/**
 * Decides about the body of a request of `/gate`.
 *
 * @param body parsed JSON
 * @param policy in force
 * @param now milliseconds since the epoch
 * @throws CniGateError where the body is a review of neither a Binding nor a Pod
 */
export async function gate(
  body: unknown,
  view: GateView,
  policy: Policy,
  now: number,
): Promise<{ request: Placement; decision: GateDecision }> {
  const request = decodePlacement(body);
  const missing = view.unsynced();
  const daemonSets = [...policy.profiles.values()].flatMap((profile) => profile.daemonSets);
  // nothing can be said about any pod, so the API server is not asked for one
  if (missing !== undefined && daemonSets.every((daemonSet) => view.notSynced(daemonSet))) {
    return { request, decision: allowUnknown('not-synced', `not listed yet: ${missing}`) };
  }
  const { namespace, name, podUid, profiles } = request;
  try {
    const found =
      profiles === undefined
        ? view.pods.pod(namespace, name, podUid)
        : { profiles, heldSince: undefined, group: request.uid };
    const pod = found instanceof Promise ? await found : found;
    return { request, decision: decidePlacement(request, pod, view, policy, now) };
  } catch (error) {
    // the gate may fail open; the proof in the pod never does
    return { request, decision: allowUnknown('pod-unknown', messageOf(error)) };
  }
}
