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

/**
 * The networks of nodes, as of one moment: each answer is found once and kept. A node that is open and takes the pod may
 * still be full: the pod that replaces it then waits there for a place.
 */
export class Networks {
  /** Milliseconds of a monotonic clock. */
  readonly madeAt = performance.now();
  readonly #known: KnownCluster;
  readonly #nodes: ReadonlyMap<string, NodeFacts>;
  /** By node and profile. */
  readonly #states = new Map<string, NodeForProfile>();
  /** By namespace and by what pods require: up to two nodes that take them. One may be the pod's own. */
  readonly #found = new Map<string, Map<string, string[]>>();

  /** By node. */
  #failed: Map<string, PodEvidence[]> | undefined;

  constructor(known: KnownCluster) {
    this.#known = known;
    this.#nodes = new Map(Array.from(known.readiness.nodes(), (node) => [node.name, node]));
  }

  /** A profile's network on a node. */
  node(name: string, profile: string): NodeForProfile {
    return getOrMake(this.#states, `${name}/${profile}`, () => ({
      ...this.#state(name, profile),
      passedAt: this.#passedAt(name, profile),
    }));
  }

  /** The failed pods on a node. */
  failedOn(node: string): readonly PodEvidence[] {
    this.#failed ??= Map.groupBy(failedOf(this.#known.evidence.pods()), (pod) => pod.node);
    return this.#failed.get(node) ?? [];
  }

  /** Whether another node is open to this failed pod and takes it, as far as is known. */
  elsewhere({ node, namespace, profiles, required }: PodEvidence): boolean {
    if (required === undefined) return false;
    const zone = required.hasVolumes ? this.#nodes.get(node)?.labels[zoneLabel] : undefined;
    const wanted = inZone(required, zone);
    const kinds = getOrMake(this.#found, namespace, () => new Map<string, string[]>());
    if (kinds.size >= repairLimits.kinds && !kinds.has(wanted.kind)) return false;
    return getOrMake(kinds, wanted.kind, () => this.#find(wanted, profiles)).some((name) => name !== node);
  }

  #state(name: string, profile: string): Pick<NodeForProfile, 'state' | 'why' | 'turn'> {
    const { policy, now } = this.#known;
    const node = this.#nodes.get(name);
    if (node === undefined) return { state: 'unreachable', why: 'the node is gone', turn: false };
    if (isSilent(node)) return { state: 'unreachable', why: 'its kubelet does not report', turn: false };
    if (node.unschedulable) return { state: 'closed', why: 'it is cordoned', turn: false };
    const found = policy.profiles.get(profile);
    if (found === undefined) return { state: 'open', why: '', turn: true };
    const { blocker, trial } = blockedBy(found, name, this.#known, policy, { now });
    if (trial !== undefined) {
      return { state: 'unproved', why: blocker?.status.reason ?? '', turn: blocker === undefined };
    }
    if (blocker === undefined) return { state: 'open', why: '', turn: true };
    const { daemonSet, status } = blocker;
    const who =
      daemonSet === undefined ? 'its network' : `DaemonSet ${daemonSet.namespace}/${daemonSet.name}`;
    return { state: 'closed', why: `${who} is ${status.state} there: ${status.reason}`, turn: false };
  }

  /** A proof that is older than the containers of the network's DaemonSets says nothing. */
  #passedAt(node: string, profile: string): number | undefined {
    const { policy, readiness, evidence } = this.#known;
    const passedAt = evidence.of(profile, node)?.lastPass?.at;
    if (passedAt === undefined) return undefined;
    const started = (policy.profiles.get(profile)?.daemonSets ?? []).flatMap((daemonSet) =>
      readiness.started(daemonSet, node),
    );
    return started.some(({ at = 0 }) => at >= passedAt) ? undefined : passedAt;
  }

  #find({ constraints, tolerations }: NodeRequired, profiles: readonly string[]): string[] {
    const takes = (node: NodeFacts): boolean =>
      profiles.every((profile) => this.node(node.name, profile).state === 'open') &&
      toleratesAll(tolerations, node.taints) &&
      matchesNode(constraints, node);
    const found: string[] = [];
    for (const node of this.#nodes.values()) {
      if (takes(node)) found.push(node.name);
      if (found.length === 2) break;
    }
    return found;
  }
}

/** The requirements of a pod whose volumes can be used in this zone only; undefined for those of any other pod. */
function inZone(required: NodeRequired, zone: string | undefined): NodeRequired {
  if (zone === undefined) return required;
  const { constraints, kind } = required;
  const nodeSelector = { ...constraints.nodeSelector, [zoneLabel]: zone };
  return { ...required, constraints: { ...constraints, nodeSelector }, kind: `${kind} ${zone}` };
}

function* failedOf(pods: Iterable<PodEvidence>): Generator<PodEvidence> {
  for (const pod of pods) if (pod.verdict === 'failed') yield pod;
}

const isSilent = ({ taints }: NodeFacts): boolean => taints.some(({ key }) => silent.has(key));
