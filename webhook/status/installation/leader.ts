import { leaderLease } from '../../lib/names.ts';
import { timeText } from '../../lib/time-text.ts';
import { foundIn, type LeaseFacts, type Observation, unknownIn } from './facts.ts';
import { inOrder, notKnown, type PartResult, wrong } from './part.ts';

/**
 * How much longer than it says a Lease is believed: its time is that of the holder's clock, which may be behind, and
 * a busy holder renews late.
 */
const margin = 15_000;

/**
 * Whether a replica leads. Pods that were refused are sent elsewhere by that one alone.
 *
 * @param steers whether pods would be sent elsewhere, by mode and version
 * @param now milliseconds since the epoch
 */
export function judgeLeader(
  namespace: string,
  lease: Observation<LeaseFacts>,
  steers: boolean,
  now: number,
): PartResult {
  const subject = { part: 'leader', object: `Lease ${namespace}/${leaderLease}` } as const;
  const unknown = unknownIn(lease);
  if (unknown !== undefined) return notKnown(subject, unknown, false);
  const found = foundIn(lease);
  const what = found === undefined ? 'it does not exist: no replica has led yet' : staleness(found, now);
  if (what === undefined) return inOrder(subject, `held by ${found?.holder}`);
  if (!steers) return inOrder(subject, `${what}; nothing is steered anyway`);
  return wrong(
    subject,
    'CNI_GATE_NO_LEADER',
    `${what}, so pods that are refused are sent nowhere`,
    `Look at "kubectl -n ${namespace} logs deployment/cni-gate"`,
  );
}

function staleness({ holder, renewed, duration }: LeaseFacts, now: number): string | undefined {
  if (holder === '') return 'nobody holds it';
  if (renewed === undefined) return `${holder} holds it and never renewed it`;
  if (now - renewed <= duration + margin) return undefined;
  return `${holder} holds it and has not renewed it since ${timeText(renewed)}`;
}
