import type { RepairSettings } from '../../config/types.ts';
import type { Controller, PodEvidence } from '../../nodes/evidence/facts.ts';
import type { DeletionMethod, NodeForProfile, Recreation, Skipped, SkipReason } from './types.ts';

/** What decides about a failed pod. */
export interface RepairFacts {
  /** Further kinds of controllers that recreate a deleted pod. */
  owners: RepairSettings['owners'];
  /** What is known of a profile's network on a node. */
  node(node: string, profile: string): NodeForProfile;
  /** Whether another node is open to this pod and takes it, as far as is known. */
  elsewhere(pod: PodEvidence): boolean;
  /** The pods of a controller, by `PodEvidence.owner`. */
  ownedBy(owner: string): Iterable<PodEvidence>;
  /**
   * What the leader did before that keeps the pod waiting now, and for how many milliseconds, where that is known;
   * undefined if nothing does.
   */
  limit(pod: PodEvidence, eligible: Turn): Limit | undefined;
}

/** What decides about the turn of a pod among those of its controller. */
export interface Turn {
  /** Whether a proof has passed on its node since it failed. */
  proven: boolean;
  /** Whether its controller recreates pods one after the other. */
  ordered: boolean;
}

/** Why a pod has to wait. */
export interface Limit {
  reason: SkipReason;
  /** Milliseconds. */
  ms?: number;
}

/** What to do about a failed pod: to recreate it now, or to leave it for so long or until something changes. */
export type Decision = ({ decision: 'recreate' } & Recreation) | ({ decision: 'leave' } & Skipped & Limit);

/** A failed pod that would be better off as a new pod. */
interface Eligible {
  how: DeletionMethod;
  why: string;
  /** Whether the gate keeps new pods off the node, all or all but one at a time, so that they go to other nodes. */
  moves: boolean;
  /** Whether a proof has passed on the node since the pod failed. */
  proven: boolean;
}

/**
 * Decides about a pod whose proof failed. It is recreated only if a controller replaces it, only where that helps, and
 * within all limits. Pure: all that it knows is in the facts. The cluster may change before the deletion, so delete with
 * preconditions on UID and resource version.
 */
export function decide(pod: PodEvidence, facts: RepairFacts): Decision {
  const eligible = judge(pod, facts);
  if ('reason' in eligible) return { decision: 'leave', ...eligible };
  const { how, why, moves, proven } = eligible;
  const leave = (limit: Limit): Decision => ({ decision: 'leave', why: '', ...limit });
  const ordered = pod.controller !== undefined && isOrdered(pod.controller);
  if (ordered && !isFirst(pod, facts)) return leave({ reason: 'owner-turn' });
  if (!moves && !proven && !mayProbe(pod, facts)) return leave({ reason: 'node-to-prove' });
  const limit = facts.limit(pod, { proven, ordered });
  return limit === undefined ? { decision: 'recreate', pod, how, why } : leave(limit);
}

/** How the pod is recreated and why that helps, or why it is left alone, whatever was done before. */
function judge(pod: PodEvidence, facts: RepairFacts): Eligible | Skipped {
  if (pod.leaving) return { reason: 'leaving', why: '' };
  if (pod.ended) return { reason: 'ended', why: '' };
  const { controller } = pod;
  const recreated = howToRecreate(controller, facts.owners);
  if (controller === undefined || 'not' in recreated) {
    return { reason: 'not' in recreated ? recreated.not : 'no-controller', why: '' };
  }
  const helped = helps(pod, controller, facts);
  return 'reason' in helped ? helped : { ...helped, how: recreated.how };
}

/**
 * Whether a new pod would be better off than this failed one: a proof has passed on its node since, or its node is ready
 * and may work now, or the gate keeps it off the node and another is ready.
 */
function helps(
  pod: PodEvidence,
  controller: Controller,
  facts: RepairFacts,
): Omit<Eligible, 'how'> | Skipped {
  const networks = pod.profiles.map((profile) => facts.node(pod.node, profile));
  const inState = (state: NodeForProfile['state']): NodeForProfile | undefined =>
    networks.find((network) => network.state === state);
  const canMove = (): boolean => !isBoundToNode(controller) && facts.elsewhere(pod);
  const unreachable = inState('unreachable');
  if (unreachable) return { reason: 'node-unreachable', why: unreachable.why };
  const closed = inState('closed');
  if (closed) {
    if (!canMove()) return { reason: 'node-not-ready', why: closed.why };
    const why = `node ${pod.node} is not ready for it, and another node is: ${closed.why}`;
    return { moves: true, proven: false, why };
  }
  const failed = pod.failedProfiles.map((profile) => facts.node(pod.node, profile));
  if (failed.length > 0 && failed.every((network) => isProven(pod, network))) {
    const why = `a proof of another pod has passed on node ${pod.node} since`;
    return { moves: false, proven: true, why };
  }
  const unproved = inState('unproved');
  if (unproved && canMove()) {
    const because = unproved.why === '' ? '' : `: ${unproved.why}`;
    const why = `node ${pod.node} gets one pod at a time, and another node is ready${because}`;
    return { moves: true, proven: false, why };
  }
  const findsOut = failed.some(({ state }) => state === 'unproved')
    ? ', and a new pod finds out whether its network works'
    : '';
  return { moves: false, proven: false, why: `node ${pod.node} is ready${findsOut}` };
}

/** The pod's first run that failed shows the network as it was when the sandbox was made, so a later proof outdates it. */
const isProven = ({ startedAt, at, createdAt }: PodEvidence, { state, passedAt }: NodeForProfile): boolean =>
  state === 'open' && passedAt !== undefined && passedAt > (startedAt ?? at ?? createdAt);

/** Whether no failed pod of the StatefulSet with a lower ordinal could be recreated. */
function isFirst(pod: PodEvidence, facts: RepairFacts): boolean {
  const ordinal = ordinalOf(pod);
  for (const other of facts.ownedBy(pod.owner)) {
    if (other.verdict !== 'failed' || ordinalOf(other) >= ordinal) continue;
    if (!('reason' in judge(other, facts))) return false;
  }
  return true;
}

/** Whether its new pod may find out about the node, where the gate lets one pod at a time through. */
const mayProbe = ({ node, failedProfiles }: PodEvidence, facts: RepairFacts): boolean =>
  failedProfiles.every((profile) => {
    const { state, turn } = facts.node(node, profile);
    return state !== 'unproved' || turn;
  });

/** Why no controller would recreate a deleted pod. */
export type NotRecreated = Extract<SkipReason, 'static-pod' | 'no-controller' | 'unknown-controller'>;

/** How pods of Kubernetes' own controllers are recreated, by `group/kind`. */
const known: ReadonlyMap<string, DeletionMethod> = new Map([
  ['apps/ReplicaSet', 'delete'],
  ['apps/StatefulSet', 'delete'],
  ['apps/DaemonSet', 'delete'],
  // a deleted pod counts as a failed one, a released pod does not: the Job would use up its backoffLimit
  ['batch/Job', 'release-and-delete'],
]);

/**
 * How a pod of this controller is recreated, or why it would not be. A static pod's mirror has its Node as
 * controller.
 *
 * @param others further kinds of controllers
 */
export function howToRecreate(
  controller: Controller | undefined,
  others: RepairSettings['owners'],
): { how: DeletionMethod } | { not: NotRecreated } {
  if (controller === undefined) return { not: 'no-controller' };
  const { apiVersion, kind } = controller;
  if (apiVersion === 'v1' && kind === 'Node') return { not: 'static-pod' };
  const [group, version] = apiVersion.split('/');
  const how = version === undefined ? undefined : known.get(`${group}/${kind}`);
  if (how !== undefined) return { how };
  const isOther = others.some(
    (other) => other.kind === kind && [apiVersion, `${group}/*`].includes(other.apiVersion),
  );
  return isOther ? { how: 'delete' } : { not: 'unknown-controller' };
}

/** Whether the controller's pods cannot run on other nodes. */
export const isBoundToNode = ({ apiVersion, kind }: Controller): boolean =>
  isOf(apiVersion, kind, 'DaemonSet');

/** Whether the controller's pods are recreated one after the other, by their ordinals. */
export const isOrdered = ({ apiVersion, kind }: Controller): boolean => isOf(apiVersion, kind, 'StatefulSet');

const isOf = (apiVersion: string, kind: string, of: string): boolean =>
  apiVersion.startsWith('apps/') && kind === of;

/** The number at the end of the name of a StatefulSet's pod; 0 where there is none. */
export function ordinalOf({ name }: { name: string }): number {
  const digits = /-(\d{1,15})$/.exec(name)?.[1];
  return digits === undefined ? 0 : Number(digits);
}
