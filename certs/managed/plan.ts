import { renewalDue } from '../renewal.ts';
import type { Fault } from './fault.ts';
import { inForce, periodFault, type ReadAuthority, type ReadLeaf } from './parts.ts';
import { type Reading, type ReadState, wholeState } from './reading.ts';
import { matchesTrust, type TrustSight, trustedAnywhere, trustedBy, trustsAnybody } from './trust.ts';

/** What a replica knows when it decides what to do next. */
export interface Sight {
  /** The Secret, or undefined where there is none. */
  reading: Reading | undefined;
  /** The last good state that this replica read or wrote. */
  kept: ReadState | undefined;
  trust: TrustSight;
  /** The time by the clock that judges certificates: the API server's. */
  now: Date;
  /** Milliseconds for which this replica has seen `next` trusted everywhere, by a clock that only runs forward. */
  trustedFor: number | undefined;
  /** Milliseconds for which this replica has waited, because its last plans said so. */
  waitedFor: number;
  /** Milliseconds that an authority is trusted everywhere before anything it signed is served. */
  overlap: number;
  /** What the serving certificate must be for. */
  names: readonly string[];
}

/**
 * The next thing to do. One at a time: what follows is decided on what is there then.
 *
 * - `none`: all is well
 * - `wait`: another replica may know better
 * - `restore`: write `state`, which this replica remembers
 * - `create`: a new authority and a leaf of it
 * - `issue`: a new leaf from the authority
 * - `begin`: make the next authority
 * - `promote`: the next authority signs from now on, and the one that did is only trusted
 * - `drop`: trust the previous authorities no longer
 * - `rewrite`: write what was read, without what could not be used
 */
export type Step =
  | { do: 'none' }
  | { do: 'wait' }
  | { do: 'restore'; state: ReadState }
  | { do: 'create' }
  | { do: 'issue' | 'begin' | 'promote' | 'drop' | 'rewrite'; state: Unserved };

/** A state whose leaf, where it has one, is only looked at. */
export type Unserved = Omit<ReadState, 'leaf'> & { leaf?: ReadLeaf };

export interface Plan {
  step: Step;
  /** What is wrong, where the step mends something; empty for what is due by the calendar. */
  faults: Fault[];
}

/**
 * How long a replica that knows no authority leaves it to another one to bring back the one that is trusted. Longer
 * than the pause between two looks of one that no watch wakes.
 */
export const patience = 20_000;

/** Decides what to do about the Secret. Pure: everything that it knows is in `sight`. */
export function planStep(sight: Sight): Plan {
  const { reading, now } = sight;
  const faults = faultsIn(reading, now, sight.names);
  const whole = reading && wholeState(reading);
  const state = whole && faults.length === 0 ? whole : undefined;
  if (state) {
    const younger = remembered(sight, state);
    if (younger) return { step: { do: 'restore', state: younger }, faults: [rolledBack(state, younger)] };
    if (mayBeKnown(state, sight)) return { step: { do: 'wait' }, faults: [] };
    return { step: whatIsDue(state, sight), faults: [] };
  }
  if (isFirstStart(sight)) return { step: { do: 'create' }, faults: [] };
  return { step: mend(sight, reading ?? { faults }, faults), faults };
}

/**
 * Whether nothing was made yet: there is no Secret, this replica has not seen one, and every caBundle is empty. A new
 * installation looks like this, so nothing is wrong.
 */
function isFirstStart({ reading, kept, trust }: Sight): boolean {
  const isEmpty = trust.configurations.every(({ bundles }) => !bundles.some((bundle) => bundle?.trim()));
  return reading === undefined && kept === undefined && trust.complete && isEmpty;
}

/**
 * What is wrong with the Secret by itself.
 *
 * @param reading undefined where there is no Secret
 * @param names what the serving certificate must be for
 */
export function faultsIn(reading: Reading | undefined, now: Date, names: readonly string[]): Fault[] {
  return reading ? [...reading.faults, ...faultsInTime(reading, now, names)] : [missing];
}

/**
 * Whether another replica should have its time to say what the Secret has to be: we remember nothing, and the
 * caBundles trust somebody who is not in it, or not the one who signs. Its authority may be trusted all the same:
 * that of an older copy still is.
 */
function mayBeKnown(found: Omit<ReadState, 'leaf'>, { kept, trust, now, waitedFor }: Sight): boolean {
  if (kept || waitedFor >= patience) return false;
  const signs = trustedAnywhere(trust, found.authority.facts.fingerprint);
  return trustsAnybody(trust, now, trustedBy(found)) || (!signs && trustsAnybody(trust, now));
}

/** What to do about a state that nothing is wrong with. */
function whatIsDue(state: ReadState, { now, trustedFor, overlap }: Sight): Step {
  const { authority, next, previous, leaf } = state;
  const due = ({ facts }: ReadAuthority | ReadLeaf) => renewalDue(facts.notBefore, facts.notAfter, now);
  if (next && trustedFor !== undefined && trustedFor >= overlap) return { do: 'promote', state };
  if (previous && now > previous.until) return { do: 'drop', state };
  if (!next && due(authority)) return { do: 'begin', state };
  // one that ends with its authority would only be made again to end at the same moment
  const longer = leaf.facts.notAfter < authority.facts.notAfter;
  if (!due(leaf) || !longer) return { do: 'none' };
  return { do: 'issue', state: { authority, next, previous } };
}

/** The way back from a Secret that cannot be used as it is. */
function mend(sight: Sight, reading: Reading, faults: Fault[]): Step {
  const { kept, trust, now, names, waitedFor } = sight;
  const sound = kept && faultsInTime(kept, now, names).length === 0 ? kept : undefined;
  const { authority, next, previous, leaf } = reading;
  const nextSigns = next && inForce(next.facts, now) ? next : undefined;
  if (authority && inForce(authority.facts, now)) {
    const same = sound?.authority.facts.fingerprint === authority.facts.fingerprint;
    const stray = sound && !follows(sound, { authority, previous }) && matchesTrust(sound, trust);
    if (sound && (same || stray)) return { do: 'restore', state: sound };
    if (mayBeKnown({ authority, next, previous }, sight)) return { do: 'wait' };
    const state = { authority, next: nextSigns, previous };
    const wrong = faults.filter(({ part }) => part === 'leaf').map(({ reason }) => reason);
    if (leaf && wrong.length === 0) return { do: 'rewrite', state: { ...state, leaf } };
    // the names that it has are kept, or two versions that ask for different ones would take turns for ever
    return { do: 'issue', state: leaf && wrong.includes('names') ? { ...state, leaf } : state };
  }
  const trusted = trustsAnybody(trust, now);
  if (sound && (matchesTrust(sound, trust) || !trusted)) return { do: 'restore', state: sound };
  const known = nextSigns && trustedAnywhere(trust, nextSigns.facts.fingerprint);
  if (trusted && !known && waitedFor < patience) return { do: 'wait' };
  if (authority && mayBeKnown({ authority, next, previous }, sight)) return { do: 'wait' };
  if (authority && nextSigns) return { do: 'promote', state: { authority, next: nextSigns, previous } };
  return sound ? { do: 'restore', state: sound } : { do: 'create' };
}

/**
 * What this replica remembers, where the Secret holds something else that does not come from it. Its leaf has to be
 * in force: until then nobody can have dropped its authority, however long ago the caBundles were read.
 */
function remembered({ kept, trust, now, names }: Sight, state: ReadState): ReadState | undefined {
  if (!kept || follows(kept, state) || !matchesTrust(kept, trust)) return undefined;
  return faultsInTime(kept, now, names).length === 0 ? kept : undefined;
}

/** Whether a state can have come from an earlier one by the steps of a rotation. */
function follows(earlier: ReadState, later: Pick<ReadState, 'authority' | 'previous'>): boolean {
  const before = earlier.authority.facts.fingerprint;
  return [later.authority.facts, ...(later.previous?.facts ?? [])].some(
    ({ fingerprint }) => fingerprint === before,
  );
}

/** What a clock, and the names that are asked for, find wrong in parts that could be read. */
function faultsInTime(
  { authority, next, leaf }: Omit<Reading, 'faults'>,
  now: Date,
  names: readonly string[],
): Fault[] {
  const faults: Fault[] = [];
  if (authority && !inForce(authority.facts, now))
    faults.push(periodFault('authority', authority.facts, now));
  if (next && !inForce(next.facts, now)) faults.push(periodFault('next', next.facts, now));
  if (leaf && !inForce(leaf.facts, now)) faults.push(periodFault('leaf', leaf.facts, now));
  const lacking = leaf ? names.filter((name) => !leaf.facts.names.includes(name)) : [];
  if (lacking.length > 0) {
    const message = `the leaf is not for ${lacking.join(', ')}`;
    faults.push({ part: 'leaf', reason: 'names', code: 'CNI_GATE_TLS_PAIR', message });
  }
  return faults;
}

const missing: Fault = {
  part: 'secret',
  reason: 'missing',
  code: 'CNI_GATE_TLS_SECRET',
  message: 'the Secret does not exist',
};

function rolledBack(seen: ReadState, kept: ReadState): Fault {
  const [old, own] = [seen, kept].map(({ authority }) => authority.facts.fingerprint.slice(0, 11));
  const message = `the Secret holds an authority (${old}…) that does not follow the one that is trusted (${own}…): was an older copy of it written back?`;
  return { part: 'secret', reason: 'rolled-back', code: 'CNI_GATE_TLS_SECRET', message };
}
