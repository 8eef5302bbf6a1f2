import type { PodEvidence } from '../../nodes/evidence/facts.ts';
import type { ProofState, Unproved } from './proof.ts';

/** What is kept of a namespace. */
export interface OptIn {
  name: string;
  /** What its label asks for; undefined where it did not opt in. */
  profile: string | undefined;
}

/** What is kept of a pod in a namespace that opted in. */
export interface PodFacts {
  namespace: string;
  name: string;
  /** Absent while it waits for one. */
  node?: string;
  /** The profile that its own label asks for, where that overrides the namespace's. */
  profile?: string;
  /** The state of its check. */
  proof: ProofState;
  held?: Hold;
  unproved?: Unproved;
  /** What its init container found out, and its addresses; absent where the pod has no node or does not carry our label. */
  evidence?: PodEvidence;
  /** What a check that did not pass saw, from the container's message; absent where that says nothing. */
  seen?: string;
}

/** A pod that waits because the gate refused its node. */
export interface Hold {
  uid: string;
  /** The node that it was refused for. */
  refused: string;
  /** What was not ready there at its last try, as the refusal says; empty where that is cut off. */
  why: string;
  /** Since when it waits for a node, milliseconds since the epoch; undefined where the pod does not say. */
  since: number | undefined;
  /** The node that it is to try next, `status.nominatedNodeName`; empty where no node is nominated. */
  nominated: string;
}

/** The last event about a pod. */
export interface PodEvent {
  /** Milliseconds since the epoch. */
  at: number;
  reason: string;
  note: string;
  /** Whether the leader says that repair has stopped. */
  stopped: boolean;
}
