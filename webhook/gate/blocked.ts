import type { Policy } from '../config/policy.ts';
import type { DaemonSetRef, Profile } from '../config/types.ts';
import { type Asker, type Known, profileProof } from '../evidence/profile-proof.ts';
import { type DaemonSetStatus, open, type State } from '../readiness/state.ts';
import type { Blocker } from './refusal.ts';

/** What speaks about a profile on a node. */
export interface Blocked {
  /** Why the gate would refuse the node; undefined if it would allow it. */
  blocker: Blocker | undefined;
  /** The state that requires a proof; undefined if none does. Without a blocker, it is the turn of the pod that asks. */
  trial: State | undefined;
}

/**
 * Whether a profile blocks a node for a pod: a DaemonSet of it is not ready there, or the proofs of pods speak against it.
 *
 * @param ignores called with each DaemonSet and its status, undefined if that is unknown; returns whether to ignore them
 */
export function blockedBy(
  profile: Profile,
  node: string,
  known: Known,
  policy: Policy,
  asker: Asker,
  ignores: (daemonSet: DaemonSetRef, status: DaemonSetStatus | undefined) => boolean = () => false,
): Blocked {
  let last: { daemonSet: DaemonSetRef; status: DaemonSetStatus } | undefined;
  for (const daemonSet of profile.daemonSets) {
    const status = known.readiness.status(daemonSet, node, asker.now, policy.gate.startupGrace);
    if (ignores(daemonSet, status) || status === undefined) continue;
    if (!open.has(status.state)) {
      return { blocker: { node, profile: profile.name, daemonSet, status }, trial: undefined };
    }
    if (last === undefined || status.state === 'ready') last = { daemonSet, status };
  }
  const proof = profileProof(profile, node, known, policy, asker);
  if (proof === undefined || proof.state === 'proved') return { blocker: undefined, trial: undefined };
  const { state, reason, lets } = proof;
  if (lets) return { blocker: undefined, trial: state };
  const pod = last?.status.pod;
  // without a time of its own, the hold counts from the first refusal: states that alternate do not extend it
  const status: DaemonSetStatus = { state, reason, ...(pod !== undefined && { pod }) };
  return { blocker: { node, profile: profile.name, daemonSet: last?.daemonSet, status }, trial: state };
}
