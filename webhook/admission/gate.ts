import type { ClusterView } from '../core/cluster-view.ts';
import type { GatePod } from '../core/facts/gate-pod.ts';
import { blockedBy, type KnownStatus, statusesOn } from '../core/networks/blocked.ts';
import type { State } from '../core/networks/daemon-set-status.ts';
import { type Blocker, notReadyText, refusalText } from '../core/networks/refusal.ts';
import type { Policy } from '../core/profiles/policy.ts';
import type { Profile } from '../core/profiles/types.ts';
import { messageOf } from '../lib/errors.ts';
import { decodePlacement, type Placement } from './placement.ts';
import { type AdmissionDecision, decision, type ProfileScope } from './respond.ts';

/** Why the gate allows a placement although it does not know whether the node is ready. */
export type UnknownReason = 'not-synced' | 'pod-unknown' | 'node-unknown' | 'daemonset-unknown';

/** Why the gate has nothing to check. */
export type Skipped = 'operation' | 'no-profile-applies';

/**
 * The decision about a placement. `audited`: `gate.mode: enforce` would have refused it. `unknown`: allowed, because the
 * state of the node is not known. `released`: allowed, because the pod was held for `gate.maxHold`.
 */
export type GateDecision = AdmissionDecision<
  'allowed' | 'refused' | 'audited' | 'released' | 'unknown' | 'skipped',
  State | UnknownReason | Skipped | 'held-long-enough'
>;

/** The part of a {@link ClusterView} that `/gate` reads. */
export type GateView = Pick<
  ClusterView,
  'readiness' | 'evidence' | 'pods' | 'holds' | 'unsynced' | 'notSynced' | 'notObservedSince'
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
        : { uid: '', profiles, heldSince: undefined, group: request.uid };
    const pod = found instanceof Promise ? await found : found;
    return { request, decision: decidePlacement(request, pod, view, policy, now) };
  } catch (error) {
    // the gate may fail open; the proof in the pod never does
    return { request, decision: allowUnknown('pod-unknown', messageOf(error)) };
  }
}

/**
 * Decides whether a pod may be bound to a node. Each DaemonSet of the pod's profiles must be ready on the node, or exempt
 * it. What cannot be known is allowed with a warning: the proof in the pod still verifies the network.
 *
 * @param pod what is known of the pod; undefined where nothing is. Without a UID, only the request shows it
 * @param now milliseconds since the epoch
 */
export function decidePlacement(
  placement: Placement,
  pod: Pick<GatePod, 'uid' | 'profiles' | 'heldSince' | 'group'> | undefined,
  view: Pick<ClusterView, 'readiness' | 'evidence' | 'holds' | 'notSynced' | 'notObservedSince'>,
  policy: Policy,
  now: number,
): GateDecision {
  const { node } = placement;
  const podName = `${placement.namespace}/${placement.name}`;
  if (placement.operation !== 'CREATE' || node === '') return decision('skipped', 'operation');
  if (pod === undefined) return allowUnknown('pod-unknown', `pod ${podName} is not known`);
  const profiles = pod.profiles.flatMap((name) => policy.profiles.get(name) ?? []);
  const names = profiles.map(({ name }) => name);
  const heldSince = view.holds.refusedSince(pod, now);
  const requester = { now, pod: { key: pod.uid || podName, owner: pod.group, heldSince } };
  // a request changes nothing else: a dry run binds no pod, and one that only the request shows may be made up
  const uid = placement.dryRun || view.evidence.pod(pod.uid) !== undefined ? '' : pod.uid;
  const toProve: Profile[] = [];
  let unknown: GateDecision | undefined;
  let needed = false;
  let exempt = true;
  let proofState: State | undefined;
  for (const profile of profiles) {
    const about = { profile: profile.name, profiles: names };
    const counted: KnownStatus[] = [];
    for (const one of statusesOn(profile, node, view.readiness, policy, now)) {
      needed = true;
      const why = whyUnknown(one, node, view);
      if (why === undefined) counted.push(one);
      else unknown ??= allowUnknown(...why, about);
    }
    exempt &&= counted.every(({ status }) => status?.state !== 'ready');
    const found = blockedBy(profile, node, view, policy, requester, counted);
    if (found.blocker !== undefined) {
      const since = view.holds.since(pod, found.blocker.status, now);
      const stopped = stop(found.blocker, since, policy, now, about);
      if (uid !== '' && stopped.outcome === 'refused') view.holds.refuse(uid, node, since ?? now);
      return stopped;
    }
    if (found.proofState !== undefined) toProve.push(profile);
    proofState ??= found.proofState;
    if (policy.evidenceOf(profile) === 'proof') {
      needed = true;
      if (!view.evidence.synced)
        unknown ??= allowUnknown('not-synced', 'not listed yet: pods on nodes', about);
    }
  }
  if (!needed && proofState === undefined)
    return decision('skipped', 'no-profile-applies', { profiles: names });
  for (const { name } of uid === '' ? [] : toProve)
    view.evidence.reservations.reserve(name, node, uid, now, true);
  const [profile = ''] = names;
  const state = proofState ?? (exempt ? 'exempt' : 'ready');
  return unknown ?? decision('allowed', state, { profile, profiles: names });
}

/** Why the status of a DaemonSet on a node cannot be relied on to refuse the node; undefined if it can. */
function whyUnknown(
  { daemonSet, status }: KnownStatus,
  node: string,
  view: Pick<ClusterView, 'readiness' | 'notSynced' | 'notObservedSince'>,
): [UnknownReason, why: string] | undefined {
  const name = `DaemonSet ${daemonSet.namespace}/${daemonSet.name}`;
  if (view.notSynced(daemonSet)) return ['not-synced', `not listed yet: pods of ${name}`];
  if (status === undefined) {
    return view.readiness.knows(daemonSet)
      ? ['node-unknown', `node ${node} is not known`]
      : ['daemonset-unknown', `${name} does not exist`];
  }
  return status.state === 'absent' && view.notObservedSince(daemonSet, node)
    ? ['not-synced', `not listed yet: pods of ${name} on node ${node}`]
    : undefined;
}

/** The gate does not know enough, so it allows the placement. @param why for people */
const allowUnknown = (reason: UnknownReason, why: string, about?: ProfileScope): GateDecision =>
  decision('unknown', reason, { ...about, warnings: [`allowed without a check: ${why}`] });

/**
 * Refuses the placement, unless `gate.mode` is `audit` or the pod was held for `gate.maxHold`.
 *
 * @param heldSince undefined if the pod was not refused before
 */
function stop(
  blocker: Blocker,
  heldSince: number | undefined,
  policy: Policy,
  now: number,
  about: ProfileScope,
): GateDecision {
  const { status } = blocker;
  const { mode, maxHold } = policy.gate;
  if (heldSince !== undefined && now - heldSince > maxHold) {
    const warning = `allowed, because gate.maxHold is over: ${notReadyText(blocker)}`;
    return decision('released', 'held-long-enough', { ...about, warnings: [warning] });
  }
  return mode === 'audit'
    ? decision('audited', status.state, { ...about, warnings: [`gate.mode audit: ${notReadyText(blocker)}`] })
    : decision('refused', status.state, { ...about, message: refusalText(blocker) });
}
