import type { Policy } from '../../config/policy.ts';
import type { Profile } from '../../config/types.ts';
import type { Readiness } from '../readiness/readiness.ts';
import { open, type State } from '../readiness/state.ts';
import type { EvidenceView } from './evidence.ts';
import { type NodeProof, type ProofQuestion, proofOn } from './node-state.ts';

/** Who asks, and when. */
export type Requester = Pick<ProofQuestion, 'pod' | 'now'>;

/** What is known of nodes and of the proofs on them. */
export interface Known {
  readiness: Readiness;
  evidence: EvidenceView;
}

/** What the proofs on a node say of a profile of the policy; undefined while the pods are not listed yet. */
export function profileProof(
  profile: Profile,
  node: string,
  { readiness, evidence }: Known,
  policy: Policy,
  requester: Requester,
): NodeProof | undefined {
  if (!evidence.synced || !readiness.hasNode(node)) return undefined;
  const mode = policy.evidenceOf(profile);
  // nothing speaks against the node, and nothing is required: most profiles on most nodes
  if (mode === 'ready' && evidence.of(profile.name, node)?.quiet !== false) return undefined;
  const started = profile.daemonSets.flatMap((daemonSet) => readiness.started(daemonSet, node));
  return proofOn(evidence, { profile: profile.name, node, mode, started, ...requester });
}

/**
 * Returns the function that refines the state of a DaemonSet on a node by the proofs of a profile there: `failing` and
 * `unproved` take the place of `ready` and `exempt`.
 *
 * @param now milliseconds since the epoch
 */
export function stateBy(
  profile: Profile,
  known: Known,
  policy: Policy,
  now: number,
): (node: string, state: State) => State {
  return (node, state) => {
    if (!open.has(state)) return state;
    const proof = profileProof(profile, node, known, policy, { now });
    return proof === undefined || proof.state === 'proved' ? state : proof.state;
  };
}
