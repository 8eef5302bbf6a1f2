import type { PodEvidence } from '../../core/facts/pod-evidence.ts';
import type { EvidenceView } from '../../core/networks/evidence.ts';
import { isLater, type Moment } from '../../core/networks/moment.ts';
import { networkStatus } from '../../core/networks/network-status.ts';
import type { Readiness } from '../../core/networks/readiness.ts';
import type { Policy } from '../../core/profiles/policy.ts';
import { placesOf } from '../../core/profiles/types.ts';
import { type Required, zoneLabel } from '../../core/scheduling/constraints.ts';
import { repairLimits } from '../../lib/limits.ts';
import { getOrMake } from '../../lib/maps.ts';
import { canTake, gateBy } from '../filters.ts';

export interface NodeForProfile {
  /**
   * - `open`: the gate allows a new pod of the profile, and the node is schedulable;
   * - `try`: no proof has passed yet or proofs fail, and the gate allows the replacement as a probe now;
   * - `unproved`: as `try`, but the gate allows no probe now: another pod probes the node, or a recent probe failed;
   * - `closed`: a DaemonSet is not ready, or the node is cordoned;
   * - `unreachable`: the node is gone, or its kubelet is not ready or does not report.
   */
  state: 'open' | 'try' | 'unproved' | 'closed' | 'unreachable';
  /** Why the node has this state, for log and event; empty for `open`. */
  why: string;
  /** When a proof last passed on the node. Proofs from before the node's boot or its DaemonSets' start do not count. */
  passedAt: Moment | undefined;
}

export interface KnownCluster {
  policy: Policy;
  readiness: Readiness;
  evidence: EvidenceView;
  /** Milliseconds since the epoch. */
  now: number;
}

/** The taints that the node lifecycle controller adds to a node whose kubelet does not report or is not ready. */
const silent: ReadonlySet<string> = new Set([
  'node.kubernetes.io/unreachable',
  'node.kubernetes.io/not-ready',
]);

/** @param owner the owner of the pod that would be recreated */
export function networkOn(name: string, profile: string, known: KnownCluster, owner: string): NodeForProfile {
  const { policy, readiness, now } = known;
  const passedAt = passOn(name, profile, known);
  const is = (state: NodeForProfile['state'], why = ''): NodeForProfile => ({ state, why, passedAt });
  const node = readiness.node(name);
  if (node === undefined) return is('unreachable', 'the node is gone');
  if (node.taints.some(({ key }) => silent.has(key)))
    return is('unreachable', 'its kubelet is not ready or does not report');
  if (node.unschedulable) return is('closed', 'it is cordoned');
  const found = policy.profiles.get(profile);
  if (found === undefined) return is('open');
  const status = networkStatus(found, name, known, now, { owner });
  if (status.kind !== 'blocked') return is(status.kind === 'try' ? 'try' : 'open');
  const { daemonSet, state, reason } = status;
  if (state === 'unproved' || state === 'failing') return is('unproved', reason);
  const who = daemonSet === undefined ? 'its network' : `DaemonSet ${daemonSet.namespace}/${daemonSet.name}`;
  return is('closed', `${who} is ${state} there: ${reason}`);
}

/** When a proof last passed on a node since its DaemonSets' containers started. */
function passOn(
  node: string,
  profile: string,
  { policy, readiness, evidence }: KnownCluster,
): Moment | undefined {
  const pass = evidence.of(profile, node)?.lastPass;
  const daemonSets = policy.profiles.get(profile)?.daemonSets.flatMap(placesOf) ?? [];
  return pass && isLater(pass, readiness.started(daemonSets, node)) ? pass : undefined;
}

/** Whether a node other than the failed pod's own is suitable for the pod and has a ready network. */
export type OtherNodes = (pod: PodEvidence) => boolean;

/**
 * The returned function reuses its results, so callers must replace it after a short time. It ignores free capacity: if
 * the other node is full, the replacement waits.
 */
export function otherNodes(known: KnownCluster): OtherNodes {
  const { readiness, now } = known;
  const gate = gateBy(known, now);
  /** Suitable nodes by namespace, then by requirements. Two are enough, because only one can be the pod's own node. */
  const found = new Map<string, Map<string, string[]>>();
  const find = (profiles: readonly string[], required: Required, zone: string | undefined): string[] => {
    const names: string[] = [];
    for (const node of readiness.nodes()) {
      const isOpen = !['blocked', 'try'].includes(gate(profiles, node.name).kind);
      if (isOpen && canTake(node, required, {}, zone)) names.push(node.name);
      if (names.length === 2) break;
    }
    return names;
  };
  return ({ node, namespace, profiles, required }) => {
    if (required === undefined) return false;
    const zone = required.hasVolumes ? readiness.node(node)?.labels[zoneLabel] : undefined;
    const kind = `${required.kind} ${zone ?? ''}`;
    const kinds = getOrMake(found, namespace, () => new Map<string, string[]>());
    if (kinds.size >= repairLimits.kinds && !kinds.has(kind)) return false;
    return getOrMake(kinds, kind, () => find(profiles, required, zone)).some((name) => name !== node);
  };
}
