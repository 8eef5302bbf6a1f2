import type { Controller, PodEvidence } from '../../core/facts/pod-evidence.ts';
import { isLater } from '../../core/networks/moment.ts';
import type { RepairSettings } from '../../core/profiles/types.ts';
import { repairLimits } from '../../lib/limits.ts';
import type { NodeForProfile } from './networks.ts';

export interface Recreation {
  pod: PodEvidence;
  /**
   * `release-and-delete`: the labels by which a Job finds its pod are removed first, so that the Job does not count the
   * pod's end as a failure.
   */
  how: 'delete' | 'release-and-delete';
  /** Why the pod is recreated, for log and event. */
  why: string;
  /** Set if the replacement can go to another node, and the gate blocks this node or allows one pod at a time on it. */
  moves?: true;
}

const look = 'look at what the proofs saw: "cni-gate status"';

/**
 * Why a failed pod is not recreated now, and what the user can do. Each reason from `under-way` to the last one can
 * end without any action by the user.
 */
export const skipTexts = {
  leaving: 'it is being deleted',
  ended:
    'it has ended, so only its controller can replace it. A Job counts it as failed, unless its podFailurePolicy ignores exit code 95 (and 255, with which a loss of power ends a pod)',
  unready: 'proof.continuous.onFailure of its profile is not recreate',
  'warn-mode': 'it was created while proof.mode was warn, and runs: recreate it',
  'no-controller': 'it has no controller that would recreate it: delete it and create it again',
  'unknown-controller':
    'its controller is of a kind that is not known to recreate it: delete it, or name the kind in repair.owners',
  'node-unreachable': 'its node is not Ready or does not report: look at the node',
  'node-not-ready':
    'its node is not ready for it, and no other node is: look at the DaemonSet of its network',
  'under-way': 'cni-gate could not delete it, and tries again: see the log of the leader',
  breaker: `recreated pods of most controllers failed again, so repair stops for five minutes: ${look}`,
  'owner-pause': `pods of its controller that were recreated failed again, and the next one is recreated after a pause: ${look}, or delete the pod`,
  'owner-turn': `pods of its controller are recreated one at a time, or one before the others: if that takes long, ${look}`,
  'node-to-prove': `another pod is tested on its node first: if that takes long, ${look}`,
  budget:
    'the limit of repair.perMinute, perNodePerMinute or perOwnerPerMinute is reached, and the pod is recreated later: wait, or delete it',
};

export type SkipReason = keyof typeof skipTexts;

export const skipReasons = Object.keys(skipTexts) as SkipReason[];

export interface Skipped {
  reason: SkipReason;
  why?: string;
}

export interface RepairFacts {
  owners: RepairSettings['owners'];
  /** Whether repair deletes pods. If so, it skips pods that failed in warn mode, because their applications run. */
  enforces: boolean;
  /** Milliseconds since the epoch. */
  now: number;
  node(node: string, profile: string): NodeForProfile;
  /** Whether repair recreates a pod with these profiles if the pod's network is lost. */
  recreatesLost(profiles: readonly string[]): boolean;
  /** The known pods of a controller. */
  ownedBy(owner: string): Iterable<PodEvidence>;
  /** Whether a node other than the pod's own is suitable and has a ready network. */
  elsewhere(pod: PodEvidence): boolean;
  /** Why the pod has to wait because of the leader's earlier deletions; undefined if it need not wait. */
  limit(pod: PodEvidence, eligible: Turn): Skipped | undefined;
}

export interface Turn {
  /** As in {@link Recreation}. */
  moves: boolean;
  /** Whether another pod's proof has passed on this node since the pod failed. */
  proven: boolean;
  /** Whether the pod's network is lost: the pod served traffic before, and may do so again. */
  lost: boolean;
}

/** Whether the pod passed its proof and became unready later; otherwise its proof failed. */
const isOfLost = ({ unready }: PodEvidence): boolean => unready !== undefined;

/**
 * Whether to recreate a failed or lost pod now: only if a controller replaces it, the replacement can work, and no
 * limit applies. The pod may change afterwards, so its deletion needs preconditions on UID and resource version.
 */
export function decide(pod: PodEvidence, facts: RepairFacts): Recreation | Skipped {
  const eligible = judge(pod, facts);
  if ('reason' in eligible) return eligible;
  const { proven = false, ...recreation } = eligible;
  const { moves = false } = recreation;
  const lost = isOfLost(pod);
  if (waitsForOthers(pod, facts)) return { reason: 'owner-turn' };
  if (!moves && !proven && !mayProbe(pod, facts)) return { reason: 'node-to-prove' };
  return facts.limit(pod, { moves, proven, lost }) ?? { pod, ...recreation };
}

/**
 * Whether the replacement can work: a proof has passed on the node since the failure, the node is ready, or the gate
 * keeps the replacement off the node and another node is ready.
 */
function judge(
  pod: PodEvidence,
  facts: RepairFacts,
): (Omit<Recreation, 'pod'> & { proven?: true }) | Skipped {
  if (pod.leaving) return { reason: 'leaving' };
  if (pod.ended) return { reason: 'ended' };
  if (isOfLost(pod) && !facts.recreatesLost(pod.profiles)) return { reason: 'unready' };
  if (pod.warned && facts.enforces) return { reason: 'warn-mode' };
  const { controller, node } = pod;
  if (controller === undefined) return { reason: 'no-controller' };
  const how = howToRecreate(controller, facts.owners);
  if (how === undefined) return { reason: 'unknown-controller' };
  const networks = pod.profiles.map((profile) => facts.node(node, profile));
  const inState = (...states: NodeForProfile['state'][]): NodeForProfile | undefined =>
    networks.find(({ state }) => states.includes(state));
  const canMove = (): boolean => !isOf(controller, 'DaemonSet') && facts.elsewhere(pod);
  const unreachable = inState('unreachable');
  if (unreachable) return { reason: 'node-unreachable', why: unreachable.why };
  const closed = inState('closed');
  if (closed) {
    if (!canMove()) return { reason: 'node-not-ready', why: closed.why };
    const why = `node ${node} is not ready for it, and another node is: ${closed.why}`;
    return { how, moves: true, why };
  }
  const failed = pod.failedProfiles.map((profile) => facts.node(node, profile));
  if (failed.length > 0 && failed.every((network) => isProven(pod, network))) {
    return { how, proven: true, why: `a proof of another pod has passed on node ${node} since` };
  }
  const unproved = inState('try', 'unproved');
  if (unproved && canMove()) {
    const because = unproved.why === '' ? '' : `: ${unproved.why}`;
    return {
      how,
      moves: true,
      why: `node ${node} gets one pod at a time, and another node is ready${because}`,
    };
  }
  return { how, why: `node ${node} is ready, and a new pod shows whether its network works` };
}

/**
 * Whether the node's network works: a proof passed after the failure or the loss. The time of a failure is that of the
 * first failed run in the pod's sandbox, because later runs test the same sandbox.
 */
function isProven(pod: PodEvidence, { state, passedAt }: NodeForProfile): boolean {
  const failed = pod.unready ?? { at: pod.startedAt ?? pod.at ?? pod.createdAt, shownBy: pod.failedVersion };
  return state === 'open' && passedAt !== undefined && isLater(passedAt, failed);
}

/** Whether the gate would allow the replacement on the node as a probe of the node's network. */
const mayProbe = ({ node, failedProfiles }: PodEvidence, facts: RepairFacts): boolean =>
  failedProfiles.every((profile) => facts.node(node, profile).state !== 'unproved');

/**
 * Whether the pod has to wait for another pod of its controller. A lost pod waits while another pod has no verdict. By
 * default, a StatefulSet creates no pod while a lower ordinal is not ready, so its pods are recreated in that order.
 */
function waitsForOthers(pod: PodEvidence, { ownedBy, now }: RepairFacts): boolean {
  const isLost = isOfLost(pod);
  const isOrdered = pod.controller !== undefined && isOf(pod.controller, 'StatefulSet');
  if (!isLost && !isOrdered) return false;
  for (const other of ownedBy(pod.owner)) {
    if (isLost && other.verdict === 'waiting') return true;
    if (isOrdered && delaysOthers(other, now) && ordinalOf(other) < ordinalOf(pod)) return true;
  }
  return false;
}

/**
 * Whether the pod is failed or unready, or will soon have a verdict. A pod that failed in warn mode delays no others. A
 * pod without a verdict delays them for a limited time, because the StatefulSet may create its pods in parallel.
 */
function delaysOthers({ verdict, warned, unready, at }: PodEvidence, now: number): boolean {
  const isNew = verdict === 'waiting' && at !== undefined && now - at < repairLimits.verdict;
  return isNew || (verdict === 'failed' && !warned) || unready !== undefined;
}

/** The ordinal of a StatefulSet's pod, from the end of its name. */
const ordinalOf = ({ name }: PodEvidence): number => Number(/-(\d{1,15})$/.exec(name)?.[1] ?? 0);

/** How to recreate a controller's pods, by `group/kind`, or `v1/kind` for the core group. */
const known: ReadonlyMap<string, Recreation['how']> = new Map([
  // also for the pods of OpenShift's DeploymentConfig, which creates ReplicationControllers
  ['v1/ReplicationController', 'delete'],
  ['apps/ReplicaSet', 'delete'],
  ['apps/StatefulSet', 'delete'],
  ['apps/DaemonSet', 'delete'],
  // a deleted pod would count against the Job's backoffLimit; a released pod does not
  ['batch/Job', 'release-and-delete'],
]);

function howToRecreate(
  { apiVersion, kind }: Controller,
  others: RepairSettings['owners'],
): Recreation['how'] | undefined {
  const [group] = apiVersion.split('/');
  const how = known.get(`${group}/${kind}`);
  const isOther = others.some(
    (other) => other.kind === kind && [apiVersion, `${group}/*`].includes(other.apiVersion),
  );
  return how ?? (isOther ? 'delete' : undefined);
}

const isOf = ({ apiVersion, kind }: Controller, of: 'DaemonSet' | 'StatefulSet'): boolean =>
  apiVersion.startsWith('apps/') && kind === of;
