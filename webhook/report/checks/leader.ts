import { leaderLease } from '../../lib/names.ts';
import { timeText } from '../../lib/time-text.ts';
import type { Facts } from '../facts/collect.ts';
import type { LeaseFacts } from '../facts/installation.ts';
import { foundIn } from '../facts/observation.ts';
import { type Finding, failed, judged, notKnown, passed } from './finding.ts';

/**
 * How much longer than it says a Lease is believed: its time is that of the holder's clock, which may be behind, and
 * a busy holder renews late.
 */
const margin = 15_000;

/**
 * Whether a replica leads. Only the leader nominates nodes for pods that were refused, and recreates pods that failed.
 *
 * @param now milliseconds since the epoch
 */
export function checkLeader({ installation, configuration, version }: Facts, now: number): Finding {
  const { namespace, lease } = installation;
  const object = `Lease ${namespace}/${leaderLease}`;
  return judged(
    lease,
    (found) => {
      const what = found === undefined ? 'it does not exist: no replica has led yet' : staleness(found, now);
      if (what === undefined) return passed(`held by ${found?.holder}`);
      if (configuration.trouble !== undefined)
        return notKnown({ why: `${object}: ${what}; whether that is wanted, the configuration says` });
      const undone = undoneBy(configuration, foundIn(version)?.usesNominations !== false);
      if (undone.length === 0) return passed(`${what}; nothing is steered or recreated anyway`);
      const hint = `Look at "kubectl -n ${namespace} logs deployment/cni-gate"`;
      return failed('CNI_GATE_NO_LEADER', `${object}: ${what}, so ${undone.join(', and ')}`, hint);
    },
    false,
    object,
  );
}

/** What does not happen without a leader. */
function undoneBy({ policy }: Facts['configuration'], nominates: boolean): string[] {
  const { steer, gate, repair, proof } = policy;
  const steers = steer.mode !== 'off' && gate.mode === 'enforce' && nominates;
  const recreates = repair.mode === 'recreate' && proof.mode === 'enforce';
  return [
    ...(steers ? ['pods that are refused are sent nowhere'] : []),
    ...(recreates ? ['pods whose proof failed are not recreated'] : []),
  ];
}

function staleness({ holder, renewed, duration }: LeaseFacts, now: number): string | undefined {
  if (holder === '') return 'no replica holds it';
  if (renewed === undefined) return `${holder} holds it and never renewed it`;
  if (now - renewed <= duration + margin) return undefined;
  return `${holder} holds it and has not renewed it since ${timeText(renewed)}`;
}
