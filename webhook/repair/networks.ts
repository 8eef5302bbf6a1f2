import type { Policy } from '../config/policy.ts';
import type { EvidenceView } from '../evidence/evidence.ts';
import { blockedBy } from '../gate/blocked.ts';
import type { NodeFacts } from '../readiness/facts.ts';
import type { Readiness } from '../readiness/readiness.ts';
import type { ContainersStart } from '../readiness/state.ts';
import type { NodeForProfile } from './types.ts';

/** What is known of the cluster. */
export interface KnownCluster {
  policy: Policy;
  readiness: Readiness;
  evidence: EvidenceView;
  /** Milliseconds since the epoch. */
  now: number;
}

/** What a plan asks of nodes. */
export interface Networks {
  node: (node: string, profile: string) => NodeForProfile;
  elsewhere: (node: string, profiles: readonly string[]) => boolean;
}

/** The taints of a node whose kubelet does not report: Kubernetes' node lifecycle controller sets them. */
const silent: ReadonlySet<string> = new Set([
  'node.kubernetes.io/unreachable',
  'node.kubernetes.io/not-ready',
]);

/** How many nodes are looked at for one that is open. */
const mostLookedAt = 64;

/**
 * The networks of nodes, as of one moment. A node that is open may not fit a pod all the same: a pod that fits no other
 * node is recreated once, and the gate holds it then.
 */
export function networksOf({ policy, readiness, evidence, now }: KnownCluster): Networks {
  const nodes = new Map(Array.from(readiness.nodes(), (node) => [node.name, node]));
  const startsOf = (node: string, profile: string): readonly ContainersStart[] =>
    (policy.profiles.get(profile)?.daemonSets ?? []).flatMap((daemonSet) =>
      readiness.started(daemonSet, node),
    );
  const state = (name: string, profile: string): Pick<NodeForProfile, 'state' | 'why'> => {
    const node = nodes.get(name);
    if (node === undefined) return { state: 'unreachable', why: 'the node is gone' };
    if (isSilent(node)) return { state: 'unreachable', why: 'its kubelet does not report' };
    if (node.unschedulable) return { state: 'closed', why: 'it is cordoned' };
    const found = policy.profiles.get(profile);
    if (found === undefined) return { state: 'open', why: '' };
    const { blocker, trial } = blockedBy(found, name, { readiness, evidence }, policy, { now });
    if (trial !== undefined) return { state: 'unproved', why: blocker?.status.reason ?? '' };
    if (blocker === undefined) return { state: 'open', why: '' };
    const { daemonSet, status } = blocker;
    const who =
      daemonSet === undefined ? 'its network' : `DaemonSet ${daemonSet.namespace}/${daemonSet.name}`;
    return { state: 'closed', why: `${who} is ${status.state} there: ${status.reason}` };
  };
  return {
    node: (name, profile) => {
      const starts = startsOf(name, profile);
      const found = policy.profiles.get(profile);
      const passedAt = evidence.of(profile, name)?.lastPass?.at;
      return {
        ...state(name, profile),
        needsProof: found !== undefined && policy.evidenceOf(found) === 'proof',
        passedAt:
          passedAt === undefined || starts.some(({ at = 0 }) => at >= passedAt) ? undefined : passedAt,
        instance: instanceOf(nodes.get(name), starts),
      };
    },
    elsewhere: (name, profiles) => {
      let looked = 0;
      for (const other of nodes.keys()) {
        if (other === name) continue;
        if (looked >= mostLookedAt) return false;
        looked += 1;
        if (profiles.every((profile) => state(other, profile).state === 'open')) return true;
      }
      return false;
    },
  };
}

const isSilent = ({ taints }: NodeFacts): boolean => taints.some(({ key }) => silent.has(key));

/** Changes with the node's boot and with the containers of the DaemonSets' pods. */
const instanceOf = (node: NodeFacts | undefined, starts: readonly ContainersStart[]): string =>
  [node?.bootID ?? '', ...starts.map(({ at, version }) => String(at ?? version))].join(' ');
