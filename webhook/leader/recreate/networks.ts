import { blockedBy } from '../../admission/gate/blocked.ts';
import type { Policy } from '../../config/policy.ts';
import { getOrMake } from '../../lib/get-or-make.ts';
import { repairLimits } from '../../lib/limits.ts';
import type { EvidenceView } from '../../nodes/evidence/evidence.ts';
import type { NodeRequired, PodEvidence } from '../../nodes/evidence/facts.ts';
import type { NodeFacts } from '../../nodes/readiness/facts.ts';
import type { Readiness } from '../../nodes/readiness/readiness.ts';
import { matchesNode } from '../../nodes/scheduling/node-selector.ts';
import { zoneLabel } from '../../nodes/scheduling/required.ts';
import { toleratesAll } from '../../nodes/scheduling/taints.ts';
import type { NodeForProfile } from './types.ts';

/** What is known of the cluster. */
export interface KnownCluster {
  policy: Policy;
  readiness: Readiness;
  evidence: EvidenceView;
  /** Milliseconds since the epoch. */
  now: number;
}

/** The taints of a node whose kubelet does not report: Kubernetes' node lifecycle controller sets them. */
const silent: ReadonlySet<string> = new Set([
  'node.kubernetes.io/unreachable',
  'node.kubernetes.io/not-ready',
]);

/** What is known of a profile's network on a node. */
export function networkOn(name: string, profile: string, known: KnownCluster): NodeForProfile {
  return { ...stateOf(name, profile, known), passedAt: passedAt(name, profile, known) };
}

function stateOf(name: string, profile: string, known: KnownCluster): Omit<NodeForProfile, 'passedAt'> {
  const { policy, readiness, now } = known;
  const node = readiness.node(name);
  if (node === undefined) return { state: 'unreachable', why: 'the node is gone', turn: false };
  if (node.taints.some(({ key }) => silent.has(key))) {
    return { state: 'unreachable', why: 'its kubelet does not report', turn: false };
  }
  if (node.unschedulable) return { state: 'closed', why: 'it is cordoned', turn: false };
  const found = policy.profiles.get(profile);
  if (found === undefined) return { state: 'open', why: '', turn: true };
  const { blocker, proofState } = blockedBy(found, name, known, policy, { now });
  if (proofState !== undefined) {
    return { state: 'unproved', why: blocker?.status.reason ?? '', turn: blocker === undefined };
  }
  if (blocker === undefined) return { state: 'open', why: '', turn: true };
  const { daemonSet, status } = blocker;
  const who = daemonSet === undefined ? 'its network' : `DaemonSet ${daemonSet.namespace}/${daemonSet.name}`;
  return { state: 'closed', why: `${who} is ${status.state} there: ${status.reason}`, turn: false };
}

/** A proof that is older than the containers of the network's DaemonSets says nothing. */
function passedAt(
  node: string,
  profile: string,
  { policy, readiness, evidence }: KnownCluster,
): number | undefined {
  const at = evidence.of(profile, node)?.lastPass?.at;
  const daemonSets = policy.profiles.get(profile)?.daemonSets ?? [];
  return at === undefined || readiness.started(daemonSets, node) >= at ? undefined : at;
}

/**
 * Finds other nodes for failed pods, as of one moment: each answer is found once and kept. A node that is open and takes
 * the pod may still be full: the pod that replaces it then waits there for a place.
 */
export class OtherNodes {
  readonly #known: KnownCluster;
  /** By node and profile. */
  readonly #isOpen = new Map<string, boolean>();
  /** By namespace and by what pods require: up to two nodes that take them. One may be the pod's own. */
  readonly #found = new Map<string, Map<string, string[]>>();

  constructor(known: KnownCluster) {
    this.#known = known;
  }

  /** Whether another node is open to this failed pod and takes it, as far as is known. */
  has({ node, namespace, profiles, required }: PodEvidence): boolean {
    if (required === undefined) return false;
    const zone = required.hasVolumes ? this.#known.readiness.node(node)?.labels[zoneLabel] : undefined;
    const kind = `${required.kind} ${zone ?? ''}`;
    const kinds = getOrMake(this.#found, namespace, () => new Map<string, string[]>());
    if (kinds.size >= repairLimits.kinds && !kinds.has(kind)) return false;
    const found = getOrMake(kinds, kind, () => this.#find(required, zone, profiles));
    return found.some((name) => name !== node);
  }

  #find(
    { constraints, tolerations }: NodeRequired,
    zone: string | undefined,
    profiles: readonly string[],
  ): string[] {
    const found: string[] = [];
    for (const node of this.#known.readiness.nodes()) {
      const takes =
        profiles.every((profile) => this.#opens(node, profile)) &&
        (zone === undefined || node.labels[zoneLabel] === zone) &&
        toleratesAll(tolerations, node.taints) &&
        matchesNode(constraints, node);
      if (takes) found.push(node.name);
      if (found.length === 2) break;
    }
    return found;
  }

  #opens({ name }: NodeFacts, profile: string): boolean {
    const find = (): boolean => networkOn(name, profile, this.#known).state === 'open';
    return getOrMake(this.#isOpen, `${name}/${profile}`, find);
  }
}
