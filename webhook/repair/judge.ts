import type { Controller, PodEvidence } from '../evidence/facts.ts';
import { howToRecreate } from './owners.ts';
import type { Budgets, How, LeftAloneReason, NodeForProfile } from './types.ts';

/** A failed pod whose controller would replace it. */
export type Owned = PodEvidence & { controller: Controller };

/** A profile's network on the node of a failed pod. */
export interface Network {
  profile: string;
  known: NodeForProfile;
}

/** What a failed pod is judged by. */
export interface Situation {
  /** The pod's profiles on its node. */
  networks: readonly Network[];
  /** Whether another node is open to it. */
  elsewhere: boolean;
}

/** A failed pod that would be better off as a new pod. */
export interface Helped extends Situation {
  pod: Owned;
  how: How;
  why: string;
  /** Whether the gate keeps new pods off the node, all or all but one at a time, so that they go to other nodes. */
  moves: boolean;
  /** Whether a proof has passed on the node since the pod failed. */
  proven: boolean;
}

/** Why a failed pod is left alone, with more for people. */
export interface Left {
  reason: LeftAloneReason;
  why: string;
}

/** How the pod is recreated, or why it is left alone, whatever its node is like. */
export function suits(pod: PodEvidence, { owners }: Budgets): { pod: Owned; how: How } | Left {
  if (pod.leaving) return { reason: 'leaving', why: '' };
  if (pod.ended) return { reason: 'ended', why: '' };
  const recreated = howToRecreate(pod.controller, owners);
  return 'not' in recreated || !isOwned(pod)
    ? { reason: 'not' in recreated ? recreated.not : 'no-controller', why: '' }
    : { pod, how: recreated.how };
}

const isOwned = (pod: PodEvidence): pod is Owned => pod.controller !== undefined;

/**
 * Whether a new pod would be better off than this failed one: a proof has passed on its node since, or its node is ready
 * and may work now, or the gate keeps it off the node and another is ready.
 */
export function helps({ pod, how }: { pod: Owned; how: How }, situation: Situation): Helped | Left {
  const { networks, elsewhere } = situation;
  const inState = (state: NodeForProfile['state']): Network | undefined =>
    networks.find(({ known }) => known.state === state);
  const found = { ...situation, pod, how, moves: false, proven: false };
  const unreachable = inState('unreachable');
  if (unreachable) return { reason: 'node-unreachable', why: unreachable.known.why };
  const closed = inState('closed');
  if (closed) {
    const { why } = closed.known;
    if (!elsewhere) return { reason: 'node-not-ready', why };
    return {
      ...found,
      moves: true,
      why: `node ${pod.node} is not ready for it, and another node is: ${why}`,
    };
  }
  const failed = networks.filter(({ profile }) => pod.failedProfiles.includes(profile));
  if (failed.length > 0 && failed.every(({ known }) => isProven(pod, known))) {
    const why = `a proof of another pod has passed on node ${pod.node} since`;
    return { ...found, proven: true, why };
  }
  const unproved = inState('unproved');
  if (unproved && elsewhere) {
    const because = unproved.known.why === '' ? '' : `: ${unproved.known.why}`;
    const why = `node ${pod.node} gets one pod at a time, and another node is ready${because}`;
    return { ...found, moves: true, why };
  }
  const why = failed.some(({ known }) => known.state === 'unproved')
    ? `node ${pod.node} is ready, and a new pod finds out whether its network works`
    : `node ${pod.node} is ready`;
  return { ...found, why };
}

/** The pod's first run that failed shows the network as it was when the sandbox was made, so a later proof outdates it. */
const isProven = ({ startedAt, at, createdAt }: PodEvidence, { state, passedAt }: NodeForProfile): boolean =>
  state === 'open' && passedAt !== undefined && passedAt > (startedAt ?? at ?? createdAt);
