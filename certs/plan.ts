import { inForce, type Period, renewalDue } from './period.ts';
import { type Fault, fault, type Reading, type State, wholeState } from './state.ts';
import { matchesTrust, type TrustObservation, trustedAnywhere, trustedBy, trustsAnybody } from './trust.ts';

/** What a replica knows when it decides what to do next. */
export interface Observation {
  /** The Secret, or undefined where there is none. */
  reading: Reading | undefined;
  /**
   * The last good state that this replica read or wrote. Only as long as the serving certificate that its authority
   * signed for this replica is valid: until then no replica can have dropped that authority.
   */
  remembered: State | undefined;
  trust: TrustObservation;
  /** The time by the clock that judges certificates: the API server's. */
  now: Date;
  /** Milliseconds for which this replica has observed `next` in every caBundle, by a monotonic clock. */
  trustedFor: number | undefined;
  /** Milliseconds for which this replica has waited, because its last plans said so. */
  waitedFor: number;
  /** Milliseconds for which an authority is in every caBundle before it signs what is served. */
  overlap: number;
}

/**
 * The next thing to do. One at a time: what follows is decided on what is there then.
 *
 * - `none`: all is well
 * - `wait`: another replica may know better
 * - `create`: a new authority
 * - `restore`: write `state`, which this replica remembers
 * - `rewrite`: write what was read, without what cannot be used
 * - `begin`: create the next authority
 * - `promote`: the next authority signs from now on, and the one that did is only trusted
 * - `drop`: trust the previous authorities no longer
 */
export type Step =
  | { do: 'none' | 'wait' | 'create' }
  | { do: 'restore' | 'rewrite' | 'begin' | 'promote' | 'drop'; state: State };

/** A step, and the faults that it repairs; none where the step is due by the calendar. */
export interface Plan {
  step: Step;
  faults: Fault[];
}

/**
 * Milliseconds that a replica without memory leaves another one to write back the authority that is trusted. More
 * than the interval between two reconciliations of a replica that no watch wakes.
 */
export const patience = 20_000;

/** Decides what to do about the Secret. */
export function planStep(observation: Observation): Plan {
  const { reading, remembered, trust, now } = observation;
  const faults = faultsIn(reading, now);
  const state = reading && faults.length === 0 ? wholeState(reading) : undefined;
  if (state) {
    if (remembered && !follows(remembered, state) && matchesTrust(remembered, trust)) {
      return { step: { do: 'restore', state: remembered }, faults: [rolledBack(state, remembered)] };
    }
    if (mayBeKnown(state, observation)) return { step: { do: 'wait' }, faults: [] };
    return { step: dueStep(state, observation), faults: [] };
  }
  if (isFirstStart(observation)) return { step: { do: 'create' }, faults: [] };
  return { step: repairStep(observation, reading ?? { faults }), faults };
}

/**
 * What is wrong with the Secret by itself.
 *
 * @param reading undefined where there is no Secret
 */
export function faultsIn(reading: Reading | undefined, now: Date): Fault[] {
  if (!reading) return [missing];
  const { authority, next } = reading;
  return [
    ...reading.faults,
    ...(authority ? periodFaults('authority', authority, now) : []),
    ...(next ? periodFaults('next', next, now) : []),
  ];
}

/** What the calendar asks for in a state without a fault. */
function dueStep(state: State, { now, trustedFor, overlap }: Observation): Step {
  const { authority, next, previous } = state;
  if (next && trustedFor !== undefined && trustedFor >= overlap) return { do: 'promote', state };
  if (previous && now > previous.until) return { do: 'drop', state };
  if (!next && renewalDue(authority, now)) return { do: 'begin', state };
  return { do: 'none' };
}

/** The way back from a Secret that cannot be used as it is. */
function repairStep(observation: Observation, { authority, next, previous }: Reading): Step {
  const { remembered, trust, now, waitedFor } = observation;
  const known =
    remembered && faultsIn({ ...remembered, faults: [] }, now).length === 0 ? remembered : undefined;
  const nextSigns = next && inForce(next, now) ? next : undefined;
  if (authority && inForce(authority, now)) {
    const found: State = { authority, next: nextSigns, previous };
    const same = known?.authority.fingerprint === authority.fingerprint;
    if (known && (same || (!follows(known, found) && matchesTrust(known, trust)))) {
      return { do: 'restore', state: known };
    }
    if (mayBeKnown({ authority, next, previous }, observation)) return { do: 'wait' };
    return { do: 'rewrite', state: found };
  }
  const trusted = trustsAnybody(trust, now);
  if (known && (matchesTrust(known, trust) || !trusted)) return { do: 'restore', state: known };
  const nextTrusted = nextSigns && trustedAnywhere(trust, nextSigns.fingerprint);
  if (trusted && !nextTrusted && waitedFor < patience) return { do: 'wait' };
  if (authority && mayBeKnown({ authority, next, previous }, observation)) return { do: 'wait' };
  if (authority && nextSigns) return { do: 'promote', state: { authority, next: nextSigns, previous } };
  return known ? { do: 'restore', state: known } : { do: 'create' };
}

/**
 * Whether nothing was created yet: there is no Secret, this replica has not seen one, and every caBundle is empty. A
 * new installation looks like this, so nothing is wrong.
 */
function isFirstStart({ reading, remembered, trust }: Observation): boolean {
  const isEmpty = trust.configurations.every(({ bundles }) => !bundles.some((bundle) => bundle?.trim()));
  return reading === undefined && remembered === undefined && trust.complete && isEmpty;
}

/**
 * Whether another replica should have its time to say what the Secret has to be: this one remembers nothing, and the
 * caBundles trust an authority that is not in the Secret, or not the one that signs. The Secret may then be an older
 * copy, whose authority is still trusted.
 */
function mayBeKnown(found: State, { remembered, trust, now, waitedFor }: Observation): boolean {
  if (remembered || waitedFor >= patience) return false;
  const signs = trustedAnywhere(trust, found.authority.fingerprint);
  return trustsAnybody(trust, now, trustedBy(found)) || (!signs && trustsAnybody(trust, now));
}

/** Whether a state can have come from an earlier one by the steps of a rotation. */
function follows(earlier: State, { authority, previous }: State): boolean {
  const before = earlier.authority.fingerprint;
  return [authority, ...(previous?.authorities ?? [])].some(({ fingerprint }) => fingerprint === before);
}

function periodFaults(part: Fault['part'], period: Period, now: Date): Fault[] {
  if (inForce(period, now)) return [];
  const expired = now > period.notAfter;
  const [from, to, at] = [period.notBefore, period.notAfter, now].map((date) => date.toISOString());
  const message = `the ${part} ${expired ? 'has expired' : 'is not yet valid'}: it is valid from ${from} to ${to}, and the clock says ${at}`;
  return [fault(part, expired ? 'expired' : 'not-yet-valid', message, 'CNI_GATE_TLS_PAIR')];
}

const missing = fault('secret', 'missing', 'the Secret does not exist');

function rolledBack(found: State, remembered: State): Fault {
  const [old, own] = [found, remembered].map(({ authority }) => authority.fingerprint.slice(0, 11));
  const message = `the Secret has an authority (${old}…) that does not follow the one that is trusted (${own}…): was an older copy of it written back?`;
  return fault('secret', 'rolled-back', message);
}
