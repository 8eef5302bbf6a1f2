import type { Policy } from '../../config/policy.ts';
import { Evidence } from '../../nodes/evidence/evidence.ts';
import { type Known, profileProof } from '../../nodes/evidence/profile-proof.ts';
import type { Readiness } from '../../nodes/readiness/readiness.ts';
import { open, type State } from '../../nodes/readiness/state.ts';
import type { PodFacts } from '../facts/model.ts';
import type { NodeProofStatus } from './model.ts';
import { compare, textOf } from './nodes.ts';

/** Says what the proofs on a node make of the state of a DaemonSet of these profiles, and why. */
export type Refine = (
  profiles: readonly string[],
  node: string,
  state: State,
) => { state: State; why: string } | undefined;

/**
 * What the pods of a moment say about the networks of their nodes. Failures of pods that are gone are not in it.
 *
 * @param now milliseconds since the epoch
 */
export function knownFrom(
  pods: readonly PodFacts[],
  policy: Policy,
  readiness: Readiness,
  now: number,
): Known {
  const evidence = new Evidence((name) => policy.profiles.has(name));
  const listed = pods.flatMap(({ evidence: pod }) =>
    pod === undefined ? [] : [{ type: 'put' as const, pod, listed: true }],
  );
  evidence.apply(listed, now);
  evidence.markSynced();
  return { readiness, evidence };
}

/**
 * Returns the function that refines the states of DaemonSets: the worst that the proofs of one of its profiles say.
 *
 * A node that the DaemonSet does not want stays `exempt` until proofs fail there.
 *
 * @param whole whether the pods of all namespaces are known: otherwise others may have proved a node
 */
export function refineBy(known: Known, policy: Policy, now: number, whole: boolean): Refine {
  return (profiles, node, state) => {
    if (!open.has(state)) return undefined;
    const proofs = profiles.flatMap((name) => {
      const profile = policy.profiles.get(name);
      const proof = profile && profileProof(profile, node, known, policy, { now });
      return proof ?? [];
    });
    const worst =
      proofs.find((proof) => proof.state === 'failing') ??
      (whole && state !== 'exempt' ? proofs.find((proof) => proof.state === 'unproved') : undefined);
    return worst === undefined || worst.state === 'proved'
      ? undefined
      : { state: worst.state, why: worst.reason };
  };
}

/** Who proved each node for each profile in use, and when; nodes of which nothing is known are left out. */
export function nodeProofs(
  { readiness, evidence }: Known,
  policy: Policy,
  used: ReadonlySet<string>,
  { now, whole }: { now: number; whole: boolean },
): NodeProofStatus[] {
  const found: NodeProofStatus[] = [];
  for (const name of used) {
    const profile = policy.profiles.get(name);
    if (profile === undefined) continue;
    for (const { name: node } of readiness.nodes()) {
      const proof = profileProof(profile, node, { readiness, evidence }, policy, { now });
      const pass = evidence.of(name, node)?.lastPass;
      if (proof === undefined && pass === undefined) continue;
      const { state, reason: why } = proof ?? { state: 'proved', reason: '' };
      // no proof failed there, and none passed
      if (state === 'proved' && pass === undefined) continue;
      if (!whole && state === 'unproved') continue;
      const by = pass === undefined ? null : pass.pod;
      found.push({ node, profile: name, state, provedBy: by, provedAt: textOf(pass?.at), why });
    }
  }
  return found.toSorted((one, other) => compare(one.node, other.node) || compare(one.profile, other.profile));
}
