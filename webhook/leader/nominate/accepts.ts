import { blockedBy } from '../../admission/gate/blocked.ts';
import type { Blocker } from '../../admission/gate/refusal.ts';
import type { Policy } from '../../config/policy.ts';
import { noEvidence } from '../../nodes/evidence/evidence.ts';
import type { Known } from '../../nodes/evidence/profile-proof.ts';

/** What the gate would answer about a pod and a node. */
export interface GateAnswer {
  /** Why it would refuse the pod; undefined if it would allow it. */
  blocker: Blocker | undefined;
  /** Whether it allows one pod at a time, to find out whether the network works there. */
  onePod: boolean;
}

/** What the gate would answer about a pod with these profiles on a node. */
export type Gate = (profiles: readonly string[], node: string) => GateAnswer;

/**
 * The gate, as the leader sees it. As at the gate, a DaemonSet that does not exist and a node that is gone block no pod.
 *
 * @param now milliseconds since the epoch
 */
export function gateBy(
  policy: Policy,
  { readiness, evidence = noEvidence }: Pick<Known, 'readiness'> & Partial<Known>,
  now: number,
): Gate {
  return (profiles, node) => {
    let onePod = false;
    for (const name of profiles) {
      const profile = policy.profiles.get(name);
      if (profile === undefined) continue;
      const { blocker, proofState } = blockedBy(profile, node, { readiness, evidence }, policy, { now });
      if (blocker !== undefined) return { blocker, onePod: false };
      onePod ||= proofState !== undefined;
    }
    return { blocker: undefined, onePod };
  };
}
