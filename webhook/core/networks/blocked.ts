import type { Policy } from '../profiles/policy.ts';
import type { DaemonSetRef, Profile } from '../profiles/types.ts';
import { type DaemonSetStatus, open, type State } from './daemon-set-status.ts';
import { type Known, profileProof, type Requester } from './profile-proof.ts';
import type { Readiness } from './readiness.ts';
import type { Blocker } from './refusal.ts';

/** What speaks about a profile on a node. */
export interface Blocked {
  /** Why the gate would refuse the node; undefined if it would allow it. */
  blocker: Blocker | undefined;
  /** The state that requires a proof; undefined if none does. Without a blocker, it is the turn of the pod that asks. */
  proofState: State | undefined;
}

/** A DaemonSet of a profile, and its status on a node; undefined if the node or the DaemonSet is unknown. */
export interface KnownStatus {
  daemonSet: DaemonSetRef;
  status: DaemonSetStatus | undefined;
}

/** The DaemonSets of a profile with their status on a node. @param now milliseconds since the epoch */
export const statusesOn = (
  { daemonSets }: Profile,
  node: string,
  readiness: Readiness,
  policy: Policy,
  now: number,
): KnownStatus[] =>
  daemonSets.map((daemonSet) => ({
    daemonSet,
    status: readiness.status(daemonSet, node, now, policy.gate.startupGrace),
  }));

/**
 * Whether a profile blocks a node for a pod: a DaemonSet of it is not ready there, or the proofs of pods speak against it.
 *
 * @param statuses those of its DaemonSets that count
 */
export function blockedBy(
  profile: Profile,
  node: string,
  known: Known,
  policy: Policy,
  requester: Requester,
  statuses: readonly KnownStatus[] = statusesOn(profile, node, known.readiness, policy, requester.now),
): Blocked {
  let last: { daemonSet: DaemonSetRef; status: DaemonSetStatus } | undefined;
  for (const { daemonSet, status } of statuses) {
    if (status === undefined) continue;
    if (!open.has(status.state)) {
      return { blocker: { node, profile: profile.name, daemonSet, status }, proofState: undefined };
    }
    if (last === undefined || status.state === 'ready') last = { daemonSet, status };
  }
  const proof = profileProof(profile, node, known, policy, requester);
  if (proof === undefined || proof.state === 'proved') return { blocker: undefined, proofState: undefined };
  const { state, reason, since, mayTry } = proof;
  if (mayTry) return { blocker: undefined, proofState: state };
  const pod = last?.status.pod;
  const status: DaemonSetStatus = { state, reason, observedAt: since, ...(pod !== undefined && { pod }) };
  return { blocker: { node, profile: profile.name, daemonSet: last?.daemonSet, status }, proofState: state };
}
