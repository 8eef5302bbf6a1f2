import type { Policy } from '../config/policy.ts';
import type { EvidenceView } from '../evidence/evidence.ts';
import type { NodeRequired, PodEvidence } from '../evidence/facts.ts';
import { blockedBy } from '../gate/blocked.ts';
import { getOrMake } from '../lib/get-or-make.ts';
import { repairLimits } from '../lib/limits.ts';
import type { NodeFacts } from '../readiness/facts.ts';
import type { Readiness } from '../readiness/readiness.ts';
import type { ContainersStart } from '../readiness/state.ts';
import { zoneLabel } from '../scheduling/required.ts';
import type { Accepts } from '../steer/accepts.ts';
import { Candidates } from '../steer/candidates.ts';
import { type Pausing, Work } from '../steer/work.ts';
import type { NodeForProfile } from './types.ts';

/** What is known of the cluster. */
export interface KnownCluster {
  policy: Policy;
  readiness: Readiness;
  evidence: EvidenceView;
  /** Milliseconds since the epoch. */
  now: number;
  /** Counts the steps of the search for other nodes. */
  work?: Work;
}

/** What a plan asks of nodes. */
export interface Networks {
  node: (node: string, profile: string) => NodeForProfile;
  elsewhere: (pod: PodEvidence) => Pausing<boolean>;
}

/** The taints of a node whose kubelet does not report: Kubernetes' node lifecycle controller sets them. */
const silent: ReadonlySet<string> = new Set([
  'node.kubernetes.io/unreachable',
  'node.kubernetes.io/not-ready',
]);

/** One of the nodes that are found may be the pod's own. */
const enough = 2;

/**
 * The networks of nodes, as of one moment. A node that is open and takes the pod may still be full: the pod that replaces
 * it then waits there for a place.
 */
export function networksOf({ policy, readiness, evidence, now, work = new Work() }: KnownCluster): Networks {
  const nodes = new Map(Array.from(readiness.nodes(), (node) => [node.name, node]));
  const startsOf = (node: string, profile: string): readonly ContainersStart[] =>
    (policy.profiles.get(profile)?.daemonSets ?? []).flatMap((daemonSet) =>
      readiness.started(daemonSet, node),
    );
  const state = (name: string, profile: string): Pick<NodeForProfile, 'state' | 'why' | 'turn'> => {
    const node = nodes.get(name);
    if (node === undefined) return { state: 'unreachable', why: 'the node is gone', turn: false };
    if (isSilent(node)) return { state: 'unreachable', why: 'its kubelet does not report', turn: false };
    if (node.unschedulable) return { state: 'closed', why: 'it is cordoned', turn: false };
    const found = policy.profiles.get(profile);
    if (found === undefined) return { state: 'open', why: '', turn: true };
    const { blocker, trial } = blockedBy(found, name, { readiness, evidence }, policy, { now });
    if (trial !== undefined) {
      return { state: 'unproved', why: blocker?.status.reason ?? '', turn: blocker === undefined };
    }
    if (blocker === undefined) return { state: 'open', why: '', turn: true };
    const { daemonSet, status } = blocker;
    const who =
      daemonSet === undefined ? 'its network' : `DaemonSet ${daemonSet.namespace}/${daemonSet.name}`;
    return { state: 'closed', why: `${who} is ${status.state} there: ${status.reason}`, turn: false };
  };
  const isOpen: Accepts = (profiles, node) =>
    profiles.every((profile) => state(node, profile).state === 'open');
  const candidates = new Candidates([...nodes.values()], isOpen, 0, work, enough);
  /** By namespace: requirements for which another node was looked for. */
  const kindsOf = new Map<string, Set<string>>();
  return {
    node: (name, profile) => {
      const passedAt = evidence.of(profile, name)?.lastPass?.at;
      const isOld = (at: number): boolean =>
        startsOf(name, profile).some(({ at: started = 0 }) => started >= at);
      return {
        ...state(name, profile),
        passedAt: passedAt === undefined || isOld(passedAt) ? undefined : passedAt,
      };
    },
    *elsewhere({ node, namespace, profiles, required }) {
      if (required === undefined) return false;
      const zone = required.hasVolumes ? nodes.get(node)?.labels[zoneLabel] : undefined;
      const wanted = { ...inZone(required, zone), profiles, requests: {} };
      const kinds = getOrMake(kindsOf, namespace, () => new Set<string>());
      if (kinds.size >= repairLimits.kinds && !kinds.has(wanted.kind)) return false;
      kinds.add(wanted.kind);
      const found = yield* candidates.for(wanted);
      return found.nodes.some(({ name }) => name !== node);
    },
  };
}

/** The requirements of a pod whose volumes can be used in this zone only; undefined for those of any other pod. */
function inZone(required: NodeRequired, zone: string | undefined): NodeRequired {
  if (zone === undefined) return required;
  const { constraints, kind } = required;
  const nodeSelector = { ...constraints.nodeSelector, [zoneLabel]: zone };
  return { ...required, constraints: { ...constraints, nodeSelector }, kind: `${kind} ${zone}` };
}

const isSilent = ({ taints }: NodeFacts): boolean => taints.some(({ key }) => silent.has(key));
