import { createAuthority } from './issue.ts';
import type { ConfigurationSnapshot } from './objects.ts';
import {
  type Fault,
  fault,
  fingerprintsIn,
  fingerprintsOf,
  type Reading,
  readAuthority,
  type SigningAuthority,
  type State,
  trustedIn,
} from './state.ts';
import { inForce, type Period, renewalDue } from './verify.ts';

/** What a replica knows when it decides what to do next. */
export interface Observation {
  /** The Secret, or undefined if there is none. */
  reading: Reading | undefined;
  /**
   * The last good state that this replica read or wrote. Only as long as the serving certificate that its authority
   * signed for this replica is valid: until then no replica can have dropped that authority.
   */
  remembered: State | undefined;
  /** The webhook configurations that exist. */
  configurations: readonly Pick<ConfigurationSnapshot, 'bundles'>[];
  /** The time by the clock that judges certificates: the API server's. */
  now: Date;
  /** Milliseconds for which this replica has observed `next` in every caBundle, by a monotonic clock. */
  trustedFor: number | undefined;
  /** Milliseconds for which an authority is in every caBundle before it signs what is served. */
  overlap: number;
}

/**
 * The next thing to do. One at a time: the next reconciliation decides what follows.
 *
 * - `none`: all is well
 * - `create`: a new authority
 * - `restore`: write `state`, which this replica remembers
 * - `rewrite`: write what was read, without what cannot be used
 * - `begin`: create the next authority
 * - `promote`: the next authority signs from now on, and the one that did is only trusted
 * - `drop`: remove the previous authorities that have expired
 */
export type Step =
  | { do: 'create' }
  | { do: 'none' | 'restore' | 'rewrite' | 'begin' | 'promote' | 'drop'; state: State };

/** A step, and the faults that it repairs; none if the step is due by the calendar. */
export interface Plan {
  step: Step;
  faults: Fault[];
}

/** Decides what to do about the Secret. */
export function planStep(observation: Observation): Plan {
  const { reading, remembered, now } = observation;
  const faults = reading ? faultsIn(reading, now) : remembered ? [missing] : [];
  const [found, known] = [reading, remembered].map((state) => state && usable(state, now));
  // of the same authority, the memory has what is damaged in the Secret
  const isSame = found?.authority.fingerprint === known?.authority.fingerprint;
  if (known && (!found || (faults.length > 0 && isSame)))
    return { step: { do: 'restore', state: known }, faults };
  if (known && found && isOlder(found, known, observation)) {
    const why = faults.length > 0 ? faults : [rolledBack(found, known)];
    return { step: { do: 'restore', state: known }, faults: why };
  }
  if (!found) return { step: { do: 'create' }, faults };
  return { step: faults.length > 0 ? { do: 'rewrite', state: found } : dueStep(found, observation), faults };
}

/** What is wrong with the content of the Secret. */
export function faultsIn({ authority, next, faults }: Reading, now: Date): Fault[] {
  return [
    ...faults,
    ...periodFaults('authority', authority, now),
    ...periodFaults('next authority', next, now),
  ];
}

/** What is valid now of a state; undefined if its authority is not. */
function usable({ authority, next, previous }: Omit<Reading, 'faults'>, now: Date): State | undefined {
  if (!authority || !inForce(authority, now)) return undefined;
  return { authority, next: next && inForce(next, now) ? next : undefined, previous };
}

/** What the calendar asks for in a state without a fault. */
function dueStep(state: State, { now, trustedFor, overlap }: Observation): Step {
  const { authority, next, previous } = state;
  if (next && trustedFor !== undefined && trustedFor >= overlap) return { do: 'promote', state };
  if (previous?.some(({ notAfter }) => now > notAfter)) return { do: 'drop', state };
  if (!next && renewalDue(authority, now)) return { do: 'begin', state };
  return { do: 'none', state };
}

/**
 * Whether what was found is not a successor of what this replica remembers, and the caBundles were written from the
 * latter: they contain its authority, and nothing that is unknown to it.
 */
function isOlder(found: State, remembered: State, { configurations }: Observation): boolean {
  const { fingerprint } = remembered.authority;
  const follows = fingerprintsOf([found.authority, ...(found.previous ?? [])]).has(fingerprint);
  const known = fingerprintsOf(trustedIn(remembered));
  const bundles = configurations.flatMap((each) => each.bundles.map(fingerprintsIn));
  return (
    !follows &&
    bundles.some((each) => each.has(fingerprint)) &&
    bundles.every((each) => each.isSubsetOf(known))
  );
}

function periodFaults(part: string, period: Period | undefined, now: Date): Fault[] {
  if (!period || inForce(period, now)) return [];
  const expired = now > period.notAfter;
  const [from, to, at] = [period.notBefore, period.notAfter, now].map((date) => date.toISOString());
  const message = `the ${part} ${expired ? 'has expired' : 'is not yet valid'}: it is valid from ${from} to ${to}, and the clock says ${at}`;
  return [fault(expired ? 'expired' : 'not-yet-valid', message, 'CNI_GATE_TLS_PAIR')];
}

/** The fault of a Secret that is not there. */
export const missing = fault('missing', 'the Secret does not exist');

function rolledBack(found: State, remembered: State): Fault {
  const [old, own] = [found, remembered].map(({ authority }) => authority.fingerprint.slice(0, 11));
  const message = `the Secret has an authority (${old}…) that does not follow the one that is trusted (${own}…): was an older copy of it written back?`;
  return fault('rolled-back', message);
}

/** How authorities are issued. */
export interface IssueOptions {
  /** Days that an authority is valid. */
  authorityDays: number;
  /** The time of issue. */
  now: Date;
}

/** The state after a step. */
export function applyStep(step: Step, { authorityDays, now }: IssueOptions): State {
  if (step.do === 'create') return { authority: newAuthority(authorityDays, now) };
  const { authority, next, previous = [] } = step.state;
  if (step.do === 'begin') return { ...step.state, next: newAuthority(authorityDays, now) };
  if (step.do === 'promote' && next) {
    const { key: _, ...trusted } = authority;
    return { authority: next, previous: [trusted, ...previous] };
  }
  if (step.do === 'drop') {
    const left = previous.filter(({ notAfter }) => now <= notAfter);
    return { ...step.state, previous: left.length > 0 ? left : undefined };
  }
  return step.state;
}

/** A new authority, as it is read from the Secret. */
export function newAuthority(days: number, now: Date): SigningAuthority {
  const { certificate, key } = createAuthority({ days, now });
  return readAuthority(certificate, key);
}

/** Since when one replica has observed an authority in every caBundle, without interruption. */
export interface TrustedSince {
  /** The authority, and the versions of the configurations: after a change of one the time starts again. */
  what: string;
  /** Milliseconds of a monotonic clock. */
  since: number;
}

/**
 * Measures how long the next authority is trusted. A replica counts the time that it observed itself, by a monotonic
 * clock: a stored time would be over at once when the clock jumps, while an API server may not know the authority yet.
 *
 * @param before what this returned the last time that every configuration could be read
 * @param fingerprint of the next authority, if there is one
 * @param monotonicNow milliseconds of a monotonic clock, such as `performance.now()`
 * @returns undefined if a configuration does not trust the authority
 */
export function measureTrust(
  before: TrustedSince | undefined,
  fingerprint: string | undefined,
  configurations: readonly Pick<ConfigurationSnapshot, 'name' | 'version' | 'bundles'>[],
  monotonicNow: number,
): TrustedSince | undefined {
  if (fingerprint === undefined) return undefined;
  const bundles = configurations.flatMap((each) => each.bundles);
  if (!bundles.every((bundle) => fingerprintsIn(bundle).has(fingerprint))) return undefined;
  const versions = configurations.map(({ name, version }) => `${name} ${version}`);
  const what = [fingerprint, ...versions].join('\n');
  return before?.what === what ? before : { what, since: monotonicNow };
}
