import type { Verdict as ProofVerdict } from '../../nodes/evidence/facts.ts';
import type { StateCounts } from '../../nodes/readiness/count.ts';
import type { State } from '../../nodes/readiness/state.ts';
import type { Check } from '../checks/model.ts';
import type { Fault } from '../checks/namespaces.ts';
import type { ClusterIdentity } from '../facts/cluster-identity.ts';
import type { ProbeFacts } from '../facts/probe-model.ts';
import type { ProofCounts, Unproved } from '../facts/proof.ts';

/** One of the things that cni-gate does in a cluster. */
export interface FeatureStatus {
  feature: 'prove' | 'gate' | 'steer' | 'repair';
  /** Of the configuration. */
  mode: string;
  /** Whether it does what its name says; null where that is not known. */
  inForce: boolean | null;
  /** Why it does not, or why that is not known; empty where it does. */
  why: string;
}

/**
 * The result of a status: `not-well` where something is wrong, `not-known` where nothing is but a right is missing
 * to see all that admission depends on, or the probe could not be made.
 */
export type Verdict = 'well' | 'not-well' | 'not-known' | 'not-installed';

/** A DaemonSet that brings a network. */
export interface DaemonSetSummary {
  namespace: string;
  name: string;
  /** Of the configuration, those that name it. */
  profiles: string[];
  /** Whether a namespace or pod asks for one of them. */
  inUse: boolean;
  exists: boolean;
  /** Nodes by state. */
  nodes: StateCounts;
}

/** A DaemonSet on a node. */
export interface NodeStatus {
  node: string;
  /** `namespace/name` */
  daemonSet: string;
  state: State;
  /** RFC 3339; null where the cluster does not say. */
  since: string | null;
  /** The DaemonSet's pod there. */
  pod: string | null;
  /** What is missing; empty where nothing is. */
  why: string;
}

/** A pod that the gate holds. */
export interface HeldPod {
  namespace: string;
  name: string;
  /** The node that was refused. */
  refused: string;
  /** RFC 3339; null where the pod does not say. */
  since: string | null;
  /** The node that the leader nominated; null where it did not. */
  nominated: string | null;
  /** What the leader last said about it where no node is nominated; null where it said nothing, or one is. */
  notNominated: string | null;
  /** What was not ready at its last try, as the refusal says; empty where that is cut off. */
  why: string;
}

/** A pod that runs without a proof. */
export interface UnprovedPod {
  namespace: string;
  name: string;
  node: string | null;
  reason: Unproved;
  /** The reason in words. */
  why: string;
}

/** What the proofs on a node say of a profile. */
export interface NodeProofStatus {
  node: string;
  profile: string;
  state: 'proved' | 'unproved' | 'failing';
  /** The pod whose proof passed last, `namespace/name`; null where none is known. */
  provedBy: string | null;
  /** RFC 3339; null where none is known. */
  provedAt: string | null;
  /** Why it is not proved; empty where it is. */
  why: string;
}

/** A pod on a node whose proof did not pass. */
export interface FailedPod {
  namespace: string;
  name: string;
  node: string | null;
  /** `failed`: the network is wrong; otherwise it could not be found out. */
  verdict: ProofVerdict;
  /** RFC 3339; null where the pod does not say. */
  since: string | null;
  /** What the checks saw, and what to look at. */
  why: string;
  /** What repair last said about it; null where it said nothing, or that is not known. */
  repair: string | null;
}

/** Pods without a verdict that wait for the same thing. */
export interface Wait {
  /** In words, such as `a node`, `a sandbox` or `the verdict`. */
  for: string;
  pods: number;
}

/** A pod on a node that has had no verdict for long. */
export interface WaitingPod {
  namespace: string;
  name: string;
  node: string;
  /** RFC 3339; null where the pod does not say. */
  since: string | null;
  /** What it waits for: the kubelet's own words where it has any. */
  why: string;
}

/** One address on two live pods of a network. */
export interface DuplicateAddressStatus {
  /** The network as Multus reports it; null for the cluster's own. */
  network: string | null;
  address: string;
  /** The two pods, `namespace/name`, the older one first, and their nodes. */
  pods: string[];
  nodes: string[];
}

/** What `status --output json` prints. Fields may be added to it; none is taken away or given another meaning. */
export interface Status {
  /** RFC 3339. */
  time: string;
  verdict: Verdict;
  /** The verdict in one line, with the first thing that is wrong. */
  headline: string;
  /** Whether the verdict is `well`. */
  well: boolean;
  /** Which cluster it is about. */
  cluster: ClusterIdentity;
  /** Where the configuration is from. */
  configuration: string;
  /** What is in force of what cni-gate does, and why not. */
  features: FeatureStatus[];
  /** What admission depends on: the same checks as those of `cni-gate check`. */
  installation: Check[];
  /** What could not be seen of that, and has to be for a verdict. */
  notKnown: string[];
  /** The result of `--probe`; null without it. */
  probe: ProbeFacts | null;
  /** The only namespace that was asked about; null for all. */
  namespace: string | null;
  /** Namespaces that opted in, and the states of the checks of their pods. */
  namespaces: { name: string; profile: string; pods: ProofCounts }[];
  /** The states of the checks of all these pods. */
  pods: ProofCounts;
  /** What the pods without a verdict wait for that the gate does not hold, the most of them first. */
  waits: Wait[];
  /** How many nodes no pod has proved for a profile that needs it (`gate.evidence: proof`). */
  unprovedNodes: number;
  daemonSets: DaemonSetSummary[];
  /** Where a DaemonSet is not ready; with `--all` everywhere. */
  nodes: NodeStatus[];
  heldPods: HeldPod[];
  unprovedPods: UnprovedPod[];
  faults: Fault[];
  /** Pods whose proof did not pass. */
  failedPods: FailedPod[];
  /** Pods that have waited on a node for a minute or more without a verdict. */
  waitingPods: WaitingPod[];
  /** Addresses that two live pods have. */
  duplicateAddresses: DuplicateAddressStatus[];
  /** Nodes where proofs fail; with `--all` who proved each node. */
  nodeProofs: NodeProofStatus[];
  /** What is left of an installation where cni-gate is not installed, and how to remove it. */
  leftBehind: string[];
}
