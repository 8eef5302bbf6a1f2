import type { ClusterView } from '../core/cluster-view.ts';
import type { PendingPod } from '../core/facts/pending-pod.ts';
import type { State } from '../core/networks/daemon-set-status.ts';
import {
  decisiveStatus,
  type NetworkProblem,
  networkStatus,
  type UnknownReason as UnknownNetwork,
} from '../core/networks/network-status.ts';
import { notReadyText, refusalText } from '../core/networks/refusal.ts';
import type { Policy } from '../core/profiles/policy.ts';
import { type Profile, placesOf } from '../core/profiles/types.ts';
import { messageOf } from '../lib/errors.ts';
import { nameOf } from '../lib/names.ts';
import type { Placement } from './placement.ts';
import { type AdmissionDecision, decision, type ProfileScope } from './respond.ts';

/** Why the gate allows a placement although it does not know whether the node is ready. */
export type UnknownReason = UnknownNetwork | 'pod-unknown';

export type Skipped = 'operation' | 'no-profile-applies';

/**
 * The decision about a placement. Only `refused` refuses it. `audited`: `gate.mode: enforce` would refuse it;
 * `unknown`: the node's state is not known; `released`: the pod was held for `gate.maxHold`.
 */
export type GateDecision = AdmissionDecision<
  'allowed' | 'refused' | 'audited' | 'released' | 'unknown' | 'skipped',
  State | UnknownReason | Skipped | 'held-long-enough'
>;

export type GateView = Pick<
  ClusterView,
  'readiness' | 'evidence' | 'pods' | 'holds' | 'unsynced' | 'notSynced'
>;

/** Decides about a request to `/gate` with the current policy. @param now milliseconds since the epoch */
export async function gate(
  request: Placement,
  view: GateView,
  policy: Policy,
  now: number,
): Promise<{ request: Placement; decision: GateDecision }> {
  const missing = view.unsynced();
  const daemonSets = [...policy.profiles.values()].flatMap((profile) => profile.daemonSets.flatMap(placesOf));
  // no decision is possible for any node yet, so the pod is not read from the API server
  if (missing !== undefined && daemonSets.every((daemonSet) => view.notSynced(daemonSet))) {
    return { request, decision: allowUnknown('not-synced', `not listed yet: ${missing}`) };
  }
  const { namespace, name, podUid, profiles, node } = request;
  try {
    const pod =
      profiles === undefined
        ? await view.pods.pod(namespace, name, podUid)
        : { uid: '', profiles, heldSince: undefined, group: request.uid };
    const { decision, heldSince, tries } = decidePlacement(request, pod, view, policy, now);
    // records nothing for a dry run, or for a pod that is only in the request and may never be created
    if (pod?.uid && !request.dryRun && view.evidence.pod(pod.uid) === undefined) {
      if (decision.outcome === 'refused') view.holds.refuse(pod.uid, node, heldSince ?? now);
      for (const profile of tries) view.evidence.reservations.reserve(profile, node, pod.uid, now, true);
    }
    return { request, decision };
  } catch (error) {
    // the gate may fail open, because the pod's own proof fails closed
    return { request, decision: allowUnknown('pod-unknown', messageOf(error)) };
  }
}

/**
 * Decides whether a pod may be bound to a node. If too little is known, it may be bound: its proof still runs.
 * @param pod its UID is empty if the request creates the pod
 * @returns `heldSince`: since when the pod has been held, if it was refused before; `tries`: the profiles for which
 *   this pod is the next to try the node; the caller reserves the node for the pod
 */
export function decidePlacement(
  placement: Placement,
  pod: Pick<PendingPod, 'uid' | 'profiles' | 'heldSince' | 'group'> | undefined,
  view: Omit<GateView, 'pods' | 'unsynced'>,
  policy: Policy,
  now: number,
): { decision: GateDecision; heldSince?: number | undefined; tries: string[] } {
  const { node } = placement;
  const podName = nameOf(placement);
  if (placement.operation !== 'CREATE' || node === '')
    return { decision: decision('skipped', 'operation'), tries: [] };
  if (pod === undefined)
    return { decision: allowUnknown('pod-unknown', `pod ${podName} is not known`), tries: [] };
  const profiles = pod.profiles.flatMap((name) => policy.profiles.get(name) ?? []);
  const names = profiles.map(({ name }) => name);
  const heldSince = view.holds.since(pod, now);
  const asking = { key: pod.uid || podName, owner: pod.group, heldSince };
  const facts = { policy, doubts: view, readiness: view.readiness, evidence: view.evidence };
  const statuses = profiles.map((profile) => networkStatus(profile, node, facts, now, asking));
  const status = decisiveStatus(statuses);
  if (status.kind === 'blocked') {
    const about = { profile: status.profile, profiles: names };
    return { decision: refuse(status, heldSince, policy, now, about), heldSince, tries: [] };
  }
  const tries = statuses.flatMap((known) => (known.kind === 'try' ? [known.profile] : []));
  const [profile = ''] = names;
  const about = { profile, profiles: names };
  if (status.kind === 'unknown') {
    const unknownTo = profiles[statuses.indexOf(status)]?.name ?? profile;
    return { decision: allowUnknown(status.reason, status.why, { ...about, profile: unknownTo }), tries };
  }
  if (status.kind !== 'try' && !profiles.some((known) => isGated(known, policy)))
    return { decision: decision('skipped', 'no-profile-applies'), tries };
  const state = status.kind === 'try' ? status.state : status.kind;
  return { decision: decision('allowed', state, about), tries };
}

const isGated = (profile: Profile, policy: Policy): boolean =>
  profile.daemonSets.length > 0 || policy.evidenceOf(profile) === 'proof';

/** Allows a placement about which the gate does not know enough. @param why the reason, for people */
const allowUnknown = (reason: UnknownReason, why: string, about?: ProfileScope): GateDecision =>
  decision('unknown', reason, { ...about, warnings: [`allowed without a check: ${why}`] });

/** Refuses the placement, unless `gate.mode` is `audit` or the pod was held for `gate.maxHold`. */
function refuse(
  problem: NetworkProblem,
  heldSince: number | undefined,
  { gate: { mode, maxHold } }: Policy,
  now: number,
  about: ProfileScope,
): GateDecision {
  if (heldSince !== undefined && now - heldSince > maxHold) {
    const warning = `allowed, because gate.maxHold has passed: ${notReadyText(problem)}`;
    return decision('released', 'held-long-enough', { ...about, warnings: [warning] });
  }
  return mode === 'audit'
    ? decision('audited', problem.state, {
        ...about,
        warnings: [`gate.mode audit: ${notReadyText(problem)}`],
      })
    : decision('refused', problem.state, { ...about, message: refusalText(problem) });
}
