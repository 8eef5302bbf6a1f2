import { nameOf } from '../../lib/names.ts';
import { isDaemonSet, isLost, verdictAt } from '../facts/pod-evidence.ts';
import type { Policy } from '../profiles/policy.ts';
import { type Profile, placesOf } from '../profiles/types.ts';
import type { EvidenceView } from './evidence.ts';
import { isLater, type Moment } from './moment.ts';
import type { ProofRecord } from './proof-record.ts';
import type { Readiness } from './readiness.ts';

/** A pod that is about to be bound to a node where a network needs a proof. */
export interface AskingPod {
  /** Identifies the pod; undefined if the pod does not exist yet, because it would replace a failed pod. */
  key?: string;
  owner: string;
  /** Since when the gate has refused the pod, in milliseconds since the epoch; undefined if it never did. */
  heldSince?: number | undefined;
}

/** What the proofs on a node show about a profile's network, and whether a pod may be bound to test the network. */
export interface ProofStatus {
  /**
   * - `proved`: nothing counts against the network;
   * - `unproved`: no proof has passed there since the node was created or a container of the network's DaemonSets
   *   started;
   * - `failing`: pods of at least two owners failed, lost their network or got no sandbox, or two attempts of the
   *   asking pod's owner failed, and no proof has passed since.
   */
  state: 'proved' | 'unproved' | 'failing';
  /** Why, as a text that changes only with the cause; empty for `proved`. */
  reason: string;
  /** Whether the asking pod may be bound: if the network is proved, or if the pod's proof may test it now. */
  mayProbe: boolean;
}

/** How many owners have to fail before a node counts as failing. A single owner may fail for an unrelated reason. */
const enoughOwners = 2;

/** How many attempts of one owner have to fail before the node counts as failing for that owner. */
const enoughAttempts = 2;

const proved: ProofStatus = { state: 'proved', reason: '', mayProbe: true };

const neverProved = 'no pod has proved its network there yet';
const notSince = "no pod has proved its network there since the node or the network's pod started";

/** A pod without a verdict for longer than this, in milliseconds like all times here, keeps no other pod away. */
const longestVerdict = 30_000;
/** A pod without a sandbox after this time counts as failed. Multus waits for its configuration for up to 45 s. */
const longSandbox = 60_000;
/** The pause between a failed attempt and the next. */
const pause = 2000;
/** An owner's pause after its own first failed attempt. It doubles with each further failure, up to `longestPause`. */
const ownPause = 4000;
const longestPause = 300_000;
/** The minimum pause of an owner that has a proved pod on another node, unless the pod was held for `givesWay`. */
const leastElsewhere = 60_000;
/** By this time, kube-scheduler has tried all other pods: it retries each pod after at most 11 s. */
const givesWay = 12_000;

interface ProofFacts {
  policy: Pick<Policy, 'evidenceOf'>;
  readiness: Pick<Readiness, 'node' | 'started'>;
  evidence: EvidenceView;
}

/** What the proofs on a node show about a profile; undefined until all pods are listed, and for an unknown node. */
export function proofStatus(
  profile: Profile,
  node: string,
  { policy, readiness, evidence }: ProofFacts,
  now: number,
  asking?: AskingPod,
): ProofStatus | undefined {
  if (!evidence.synced || readiness.node(node) === undefined) return undefined;
  const mode = policy.evidenceOf(profile);
  const record = evidence.of(profile.name, node);
  // the usual case: nothing counts against the node, and the profile requires no proof
  if (mode === 'ready' && record?.quiet !== false) return proved;
  // when a container of the network's DaemonSets last started on the node: earlier attempts do not count
  const from = readiness.started(profile.daemonSets.flatMap(placesOf), node);
  const holder = evidence.reservations.holder(profile.name, node, now);
  const isHolder = asking?.key !== undefined && (holder === asking.key || holder === asking.owner);
  const isFree = holder === undefined || isHolder;
  if (record === undefined) return { state: 'unproved', reason: neverProved, mayProbe: isFree };
  const runsElsewhere = (): boolean =>
    !isDaemonSet(asking?.owner ?? '') &&
    [...evidence.ownedBy(asking?.owner ?? '')].some(
      (pod) => pod.node !== node && verdictAt(pod, now) === 'passed',
    );
  // the pod for which the node is reserved has already waited for the pause
  const isDue = isHolder || isPauseOver(record, from, now, asking, runsElsewhere);
  const mayProbe = isFree && isDue && !isTried(record, now);
  const failed = against(record, from, now);
  const own = asking && record.failures.get(asking.owner);
  const isOwn = own !== undefined && own.attempts >= enoughAttempts && !isLater(from, own.started);
  if (failed.length >= enoughOwners || isOwn) {
    const reason = `proofs say that the network does not work: ${failed.slice(0, enoughOwners).join(', ')}`;
    return { state: 'failing', reason, mayProbe };
  }
  const isProved = record.lastPass !== undefined && isLater(record.lastPass, from);
  if (mode === 'ready' || isProved) return proved;
  return { state: 'unproved', reason: record.lastPass === undefined ? neverProved : notSince, mayProbe };
}

/** Whether another pod's proof is currently testing the network on the node, without a verdict yet. */
const isTried = ({ waiting }: ProofRecord, now: number): boolean =>
  // uses the absolute value: otherwise, pods would wait for a long time after the clock was set back
  [...waiting.values()].some(({ since }) => Math.abs(now - since) < longestVerdict);

/**
 * Whether the pause after the last failed attempt is over. The pod itself may be the cause of a failure, so an owner
 * waits longer after each of its own failures.
 * @param runsElsewhere whether a pod of the same owner passed on another node: the owner's next pod can run there
 */
function isPauseOver(
  { lastFailed, failures }: ProofRecord,
  from: Moment,
  now: number,
  asking: AskingPod | undefined,
  runsElsewhere: () => boolean,
): boolean {
  if (lastFailed === undefined || isLater(from, lastFailed.started) || lastFailed.seen > now) return true;
  const since = now - lastFailed.seen;
  if (since < pause || asking === undefined) return since >= pause;
  const failure = failures.get(asking.owner);
  if (failure === undefined || isLater(from, failure.started)) return true;
  const own = Math.min(longestPause, ownPause * 2 ** (failure.attempts - 1));
  const waited = now - failure.seen;
  if (waited < own) return false;
  // repair, which passes no key, decides itself whether the pod can move to another node
  if (asking.key === undefined || now - (asking.heldSince ?? now) >= givesWay) return true;
  // even if the pod comes late, for example because of its volumes, the scheduler tries other nodes first
  if (failure.attempts >= enoughAttempts) return false;
  return waited >= leastElsewhere || !runsElsewhere();
}

/**
 * A text for each owner of a pod that, since the last pass, failed, lost its network or lacked a sandbox for too long.
 */
function against({ failures, waiting, unready, lastPass }: ProofRecord, from: Moment, now: number): string[] {
  const passSeen = lastPass?.seen ?? 0;
  const texts = new Map<string, string>();
  for (const [owner, { pod, started }] of failures) {
    if (!isLater(from, started)) texts.set(owner, `pod ${pod} failed`);
  }
  for (const pod of unready.values()) {
    const { owner, unready: loss } = pod;
    const counts = loss && isLost(pod, now) && loss.at > passSeen && !isLater(from, loss);
    if (counts && !texts.has(owner)) texts.set(owner, `pod ${nameOf(pod)} lost its network`);
  }
  for (const { pod, since } of waiting.values()) {
    // if the DaemonSet's start is in the future, the clock was set back after that start
    const waitsFrom = from.at > now ? since : Math.max(since, from.at);
    const isOverdue = pod.hasSandbox === false && now - waitsFrom >= longSandbox;
    if (isOverdue && since > passSeen && !texts.has(pod.owner)) {
      texts.set(pod.owner, `pod ${nameOf(pod)} has no sandbox`);
    }
  }
  return [...texts.values()];
}
