import type { EvidenceMode } from '../config/types.ts';
import type { ContainersStart } from '../readiness/state.ts';
import { isBefore } from '../readiness/versions.ts';
import type { EvidenceView } from './evidence.ts';
import type { Failure, Overdue, Tally } from './tally.ts';

/**
 * What the proofs on a node say of a profile:
 * - `proved`: nothing speaks against it;
 * - `unproved`: no proof has passed there yet;
 * - `failing`: pods of at least two owners failed or got no sandbox, and none passed since.
 */
export type ProofState = 'proved' | 'unproved' | 'failing';

/** What the proofs on a node say of a profile, and whether the gate lets one more pod try. */
export interface NodeProof {
  state: ProofState;
  /** Why, as text that is the same at each evaluation. Empty for `proved`. */
  reason: string;
  /** Whether a pod may be bound: the node is proved, or it is the pod's turn to try. */
  lets: boolean;
}

/** What is asked. */
export interface ProofQuestion {
  profile: string;
  node: string;
  mode: EvidenceMode;
  /** When the containers started of the pods of the profile's DaemonSets on the node. Proofs before it do not count. */
  started: readonly ContainersStart[];
  /** Who asks; undefined if no particular pod does. */
  pod?: { key: string; owner: string } | undefined;
  /** Milliseconds since the epoch. */
  now: number;
}

/** The pause after the first attempt that failed, in milliseconds. Each further one doubles it. */
export const firstPause = 2000;
/** The longest pause, in milliseconds. */
export const longestPause = 300_000;

/** How many owners have to fail before a node counts as failing: one may fail for its own sake. */
const enoughOwners = 2;

const proved: NodeProof = { state: 'proved', reason: '', lets: true };

/** What the proofs say of a profile on a node. It costs the same however many pods there are. */
export function proofOn(evidence: EvidenceView, question: ProofQuestion): NodeProof {
  const { profile, node, mode, started, now } = question;
  const tally = evidence.of(profile, node);
  if (tally === undefined) {
    if (mode === 'ready') return proved;
    return { state: 'unproved', reason: neverProved, lets: mayTry(evidence, undefined, question, 0) };
  }
  const from = started.reduce((latest, { at = latest }) => Math.max(latest, at), Number.NEGATIVE_INFINITY);
  const against = new Map<string, string>();
  for (const [owner, failure] of tally.failures) {
    if (failure.startedAt >= from && !evidence.isRefuted(owner)) against.set(owner, failureText(failure));
  }
  if (tally.mayLackSandboxes) {
    for (const overdue of tally.overdue(now, from)) {
      if (!against.has(overdue.owner)) against.set(overdue.owner, overdueText(overdue));
    }
  }
  const isFailing = against.size >= enoughOwners;
  if (!isFailing && (mode === 'ready' || isProved(tally, started, from))) return proved;
  const lets = mayTry(evidence, tally, question, from);
  if (isFailing) {
    const reason = `proofs say that the network does not work: ${[...against.values()].slice(0, enoughOwners).join(', ')}`;
    return { state: 'failing', reason, lets };
  }
  return { state: 'unproved', reason: tally.lastPass === undefined ? neverProved : notSince, lets };
}

const neverProved = 'no pod has proved its network there yet';
const notSince = "no pod has proved its network there since the node or the network's pod started";

const failureText = ({ pod }: Failure): string => `pod ${pod} failed`;
const overdueText = ({ pod }: Overdue): string => `pod ${pod} has no sandbox`;

/**
 * Whether a proof passed after the containers started. Both times are the node's. A clock that was set back does not
 * hide a proof that was seen to begin after the containers were.
 */
function isProved({ lastPass }: Tally, started: readonly ContainersStart[], from: number): boolean {
  if (lastPass === undefined) return false;
  const { at, waited } = lastPass;
  if (at > from) return true;
  const began = { version: waited, arrival: 0 };
  return waited !== '' && started.every(({ version }) => isBefore({ version, arrival: 1 }, began));
}

/**
 * Whether it is the pod's turn: no other pod is on the way, no other is expected that replaces a deleted one, and the
 * pause after the last attempt is over. An owner that failed there waits twice as long as others, so that one that
 * cannot pass does not take every turn. Repair asks the same, without a pod, before it deletes one to find out.
 */
function mayTry(
  { trials }: EvidenceView,
  tally: Tally | undefined,
  { profile, node, pod, now }: ProofQuestion,
  from: number,
): boolean {
  if (trials.isTaken(profile, node, pod?.key, now)) return false;
  if (tally === undefined) return true;
  if (tally.isSomebodyOnTheWay(now)) return false;
  const turn = tally.turnOf(now);
  if (turn !== undefined && turn !== pod?.owner) return false;
  const { failureSeen } = tally;
  const attempts = tally.attempts.filter((at) => at >= from).length;
  if (attempts === 0 || failureSeen === undefined) return true;
  const pause = Math.min(longestPause, firstPause * 2 ** (attempts - 1));
  const factor = pod !== undefined && turn === undefined && tally.failures.has(pod.owner) ? 2 : 1;
  const passed = now - failureSeen;
  // a clock that was set back must not hold anybody
  return passed < 0 || passed >= pause * factor;
}
