import { noEvidence } from '../evidence/evidence.ts';
import { timeText } from '../lib/time-text.ts';
import { acceptsBy } from '../steer/accepts.ts';
import { History } from '../steer/history.ts';
import { type Misfit, type MisfitCounts, misfits, type PassedOver } from '../steer/misfit.ts';
import type { PendingPod } from '../steer/pending-pod.ts';
import { plan, type Snapshot } from '../steer/plan.ts';
import type { StatusFacts } from './facts.ts';
import type { Unsent, VerbStatus } from './model.ts';
import { knownFrom } from './node-proofs.ts';

/** What a plan needs of the facts. */
type PlanFacts = Pick<StatusFacts, 'policy' | 'readiness' | 'pods' | 'usage' | 'partial'>;

/** What a plan of steering says of pods that are held, by UID. */
interface HeldPlan {
  /** Pods that would be sent to a node. */
  nodes: Map<string, string>;
  /** Why the others would be sent nowhere. */
  passedOver: Map<string, PassedOver>;
  /** Nodes whose room would have to be known for more. */
  unknownUsages: string[];
}

/** The leader's own plan, as far as it can be made without the leader's memory of nominations. */
function planHeld({ policy, readiness, pods, usage, partial }: PlanFacts, now: number): HeldPlan {
  const all = [...pods];
  const held = all.flatMap(({ held: hold }) => hold?.pod ?? []);
  // a node that looks unproved may have been proved by a pod of another namespace
  const evidence = partial ? noEvidence : knownFrom(all, policy, readiness, now).evidence;
  const passedOver: HeldPlan['passedOver'] = new Map();
  const known: Snapshot = {
    nodes: [...readiness.nodes()],
    accepts: acceptsBy(policy, readiness, now, evidence),
    usage: (node) => usage?.(node),
    history: new History(),
    start: 0,
    now,
    passedOver: ({ uid }, why) => passedOver.set(uid, why),
  };
  const { nominations, unknown } = plan(held, known, Number.POSITIVE_INFINITY);
  const nodes = new Map(nominations.map(({ pod, node }) => [pod.uid, node]));
  return { nodes, passedOver, unknownUsages: unknown };
}

/**
 * The nodes about whose pods more has to be known, to say why pods that are held are sent nowhere.
 *
 * @param now milliseconds since the epoch
 */
export const usagesNeeded = (facts: PlanFacts, now: number): string[] => planHeld(facts, now).unknownUsages;

/**
 * The pods that are held though a node would take them: whether one was named for them before says why.
 *
 * @param now milliseconds since the epoch
 */
export function podsDue(facts: PlanFacts, now: number): PendingPod[] {
  const { nodes } = planHeld(facts, now);
  const held = Array.from(facts.pods).flatMap(({ held: hold }) => hold?.pod ?? []);
  return held.filter(({ uid }) => nodes.has(uid));
}

/**
 * Says why pods that are held are sent nowhere; null for one that is sent somewhere.
 *
 * @param steer whether steering is in force, and why not
 * @param now milliseconds since the epoch
 */
export function whyUnsent(
  facts: PlanFacts & Pick<StatusFacts, 'lastNomination'>,
  steer: Pick<VerbStatus, 'inForce' | 'why'>,
  now: number,
): (pod: PendingPod) => Unsent | null {
  const planned = planHeld(facts, now);
  const nodeCount = [...facts.readiness.nodes()].length;
  const refusals = new Map(
    Array.from(facts.pods).flatMap(({ held }) => (held ? [[held.pod.uid, held.why] as const] : [])),
  );
  return (pod) => {
    if (pod.nominated !== '') return null;
    if (steer.inForce === false) return { reason: 'not-steering', why: `nobody steers: ${steer.why}` };
    const node = planned.nodes.get(pod.uid);
    if (node !== undefined) return dueTo(node, pod, facts.lastNomination);
    const passed = planned.passedOver.get(pod.uid);
    if (passed === undefined) return null;
    return unsentBy(passed, pod, { nodeCount, refusal: refusals.get(pod.uid) ?? '' });
  };
}

function dueTo(
  node: string,
  { uid, hasVolumes, heldSince = 0 }: PendingPod,
  lastNomination: StatusFacts['lastNomination'],
): Unsent {
  const last = lastNomination?.(uid);
  // one from before this hold says nothing about it
  if (last !== undefined && last.at >= heldSince) {
    const why = `node ${last.node} was named for it at ${timeText(last.at)}, and the scheduler did not bind it there: steering pauses, for 10 s at first and for 5 min at most`;
    return { reason: 'ignored', why };
  }
  if (hasVolumes) {
    const why = `not known: node ${node} would take it if its volumes can be used there, which only the scheduler knows`;
    return { reason: 'not-known', why };
  }
  const unless = lastNomination
    ? ''
    : ', unless steering pauses: whether it does, takes the right to list events to see';
  return { reason: 'due', why: `node ${node} would take it: it is sent there within seconds${unless}` };
}

/** Refusals of nodes that get one pod at a time. */
const oneAtATime = / is (?:failing|unproved) there/;

/** @param refusal what the gate said at the pod's last attempt */
function unsentBy(
  passed: PassedOver,
  { refused = '', profiles }: PendingPod,
  { nodeCount, refusal }: { nodeCount: number; refusal: string },
): Unsent {
  switch (passed.why) {
    case 'leaving':
      return { reason: 'leaving', why: 'it is being deleted' };
    case 'too-large':
      return { reason: 'too-large', why: 'it asks for too much of its node for steering to choose one' };
    case 'node-ready':
      if (oneAtATime.test(refusal)) {
        const why = `node ${refused} gets one pod at a time until a proof passes there: this pod waits for its turn`;
        return { reason: 'in-turn', why };
      }
      return { reason: 'node-ready', why: `node ${refused} is ready by now, or gone: its next try will do` };
    case 'under-way':
    case 'pause':
      return { reason: 'due', why: 'it was refused a moment ago' };
    case 'usage-unknown': {
      const few = passed.nodes.slice(0, 3).join(', ');
      const more = passed.nodes.length > 3 ? ' and others' : '';
      return {
        reason: 'not-known',
        why: `not known: what is free on node ${few}${more} takes the right to list the pods of all namespaces`,
      };
    }
    case 'no-node':
      return noNode(passed.misfits, profiles, nodeCount);
  }
}

/** Each of the reasons for which other nodes do not take a pod, after their number. */
const misfitText: Record<Misfit, (profiles: string) => string> = {
  'not-ready': (profiles) => `not ready for ${profiles}`,
  taints: () => 'cordoned, or with a taint that it does not tolerate',
  affinity: () => 'ruled out by its node selector or affinity',
  size: () => 'too small for its requests',
  volumes: () => 'in another zone than its volumes',
  ignored: () => 'that the scheduler ignored before',
  full: () => 'without free capacity for its requests',
};

/** @param nodeCount all nodes of the cluster, the refused one among them */
function noNode(found: MisfitCounts, profiles: readonly string[], nodeCount: number): Unsent {
  // the refused node is one of those that are not ready
  const others: MisfitCounts = { ...found, 'not-ready': Math.max(0, (found['not-ready'] ?? 0) - 1) };
  if (nodeCount <= 1) return { reason: 'no-node-ready', why: 'there is no other node' };
  const names = profiles.join(', ');
  const reported = misfits.filter((misfit) => (others[misfit] ?? 0) > 0);
  if (reported.every((misfit) => misfit === 'not-ready')) {
    return { reason: 'no-node-ready', why: `none of the ${nodeCount - 1} other nodes is ready for ${names}` };
  }
  const parts = reported.map((misfit) => `${others[misfit]} ${misfitText[misfit](names)}`);
  const counted = reported.reduce((sum, misfit) => sum + (others[misfit] ?? 0), 0);
  const rest = nodeCount - 1 - counted;
  if (rest > 0) parts.push(`${rest} not looked at`);
  return { reason: 'no-node-fits', why: `no other node takes it: ${parts.join('; ')}` };
}
