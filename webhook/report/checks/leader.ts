import { leaderLease } from '../../lib/names.ts';
import { timeText } from '../../lib/time-text.ts';
import type { Facts } from '../facts/collect.ts';
import type { LeaseFacts } from '../facts/installation.ts';
import { type Finding, failed, judged, passed } from './finding.ts';

/**
 * How much longer than it says a Lease is believed, in milliseconds: times are whole seconds, and a busy holder renews
 * late.
 */
const margin = 15_000;

/**
 * Whether a replica leads. Only the leader nominates nodes for pods that were refused, recreates pods that failed, and
 * writes events.
 *
 * @param now milliseconds since the epoch
 */
export function checkLeader({ installation: { namespace, lease } }: Facts, now: number): Finding {
  const object = `Lease ${namespace}/${leaderLease}`;
  return judged(
    lease,
    (found) => {
      const what = found === undefined ? 'it does not exist: no replica has led yet' : staleness(found, now);
      if (what === undefined) return passed(`held by ${found?.holder}`);
      const undone = 'refused pods are not steered and failed pods are not recreated';
      const hint = `Look at "kubectl -n ${namespace} logs deployment/cni-gate"`;
      return failed('CNI_GATE_NO_LEADER', `${object}: ${what}, so ${undone}`, hint);
    },
    false,
    object,
  );
}

function staleness({ holder, renewed, duration }: LeaseFacts, now: number): string | undefined {
  if (holder === '') return 'no replica holds it';
  if (renewed === undefined) return `${holder} holds it and never renewed it`;
  if (now - renewed <= duration + margin) return undefined;
  return `${holder} holds it and has not renewed it since ${timeText(renewed)}`;
}
