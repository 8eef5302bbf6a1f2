import { createAuthority } from './issue.ts';
import type { ConfigurationSnapshot, Configurations } from './objects.ts';
import {
  type Fault,
  fault,
  fingerprintsIn,
  fingerprintsOf,
  type Previous,
  type Reading,
  readAuthority,
  type SigningAuthority,
  type State,
  trustedIn,
  wholeState,
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
 * - `drop`: trust the previous authorities no longer
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
  const state = reading && faults.length === 0 ? wholeState(reading) : undefined;
  if (!state) return { step: repairStep(observation), faults };
  if (remembered && isOlder(state, remembered, observation)) {
    return { step: { do: 'restore', state: remembered }, faults: [rolledBack(state, remembered)] };
  }
  return { step: dueStep(state, observation), faults: [] };
}

/** What is wrong with the content of the Secret. */
export function faultsIn(reading: Reading, now: Date): Fault[] {
  const { authority, next } = reading;
  return [
    ...reading.faults,
    ...(authority ? periodFaults('authority', authority, now) : []),
    ...(next ? periodFaults('next authority', next, now) : []),
  ];
}

/** What the calendar asks for in a state without a fault. */
function dueStep(state: State, { now, trustedFor, overlap }: Observation): Step {
  const { authority, next, previous } = state;
  if (next && trustedFor !== undefined && trustedFor >= overlap) return { do: 'promote', state };
  if (previous && now > previous.until) return { do: 'drop', state };
  if (!next && renewalDue(authority, now)) return { do: 'begin', state };
  return { do: 'none', state };
}

/** The way back from a Secret that cannot be used as it is. */
function repairStep(observation: Observation): Step {
  const { reading, remembered, now } = observation;
  const known =
    remembered && faultsIn({ ...remembered, faults: [] }, now).length === 0 ? remembered : undefined;
  const { authority, next, previous } = reading ?? {};
  const usableNext = next && inForce(next, now) ? next : undefined;
  const found = authority && { authority, next: usableNext, previous };
  const usable = found && inForce(found.authority, now) ? found : undefined;
  const same = known?.authority.fingerprint === usable?.authority.fingerprint;
  if (known && (!usable || same || isOlder(usable, known, observation)))
    return { do: 'restore', state: known };
  if (usable) return { do: 'rewrite', state: usable };
  return found?.next ? { do: 'promote', state: found } : { do: 'create' };
}

/**
 * Whether what was found is not a successor of what this replica remembers, and the caBundles were written from the
 * latter: they contain its authority, and nothing that is unknown to it.
 */
function isOlder(found: State, remembered: State, { configurations }: Observation): boolean {
  const { fingerprint } = remembered.authority;
  const follows = fingerprintsOf([found.authority, ...(found.previous?.authorities ?? [])]).has(fingerprint);
  const known = fingerprintsOf(trustedIn(remembered));
  const bundles = configurations.flatMap((each) => each.bundles.map(fingerprintsIn));
  return (
    !follows &&
    bundles.some((each) => each.has(fingerprint)) &&
    bundles.every((each) => each.isSubsetOf(known))
  );
}

function periodFaults(part: string, period: Period, now: Date): Fault[] {
  if (inForce(period, now)) return [];
  const expired = now > period.notAfter;
  const [from, to, at] = [period.notBefore, period.notAfter, now].map((date) => date.toISOString());
  const message = `the ${part} ${expired ? 'has expired' : 'is not yet valid'}: it is valid from ${from} to ${to}, and the clock says ${at}`;
  return [fault(expired ? 'expired' : 'not-yet-valid', message, 'CNI_GATE_TLS_PAIR')];
}

const missing = fault('missing', 'the Secret does not exist');

function rolledBack(found: State, remembered: State): Fault {
  const [old, own] = [found, remembered].map(({ authority }) => authority.fingerprint.slice(0, 11));
  const message = `the Secret has an authority (${old}…) that does not follow the one that is trusted (${own}…): was an older copy of it written back?`;
  return fault('rolled-back', message);
}

/** How authorities and serving certificates are issued. */
export interface IssueOptions {
  /** Days that an authority is valid. */
  authorityDays: number;
  /** Days that a serving certificate is valid. */
  leafDays: number;
  /** The time of issue. */
  now: Date;
}

/**
 * The state after a step.
 *
 * @throws CniGateError CNI_GATE_USAGE if the days cannot be used
 */
export function applyStep(step: Step, options: IssueOptions): State {
  switch (step.do) {
    case 'create':
      return { authority: newAuthority(options.authorityDays, options.now) };
    case 'begin':
      return { ...step.state, next: newAuthority(options.authorityDays, options.now) };
    case 'promote':
      return promote(step.state, options);
    case 'drop':
      return { ...step.state, previous: undefined };
    case 'restore': {
      // until now a replica may have signed by an authority of the older copy, which this state retired
      const { previous } = step.state;
      return { ...step.state, previous: previous && trustLonger(previous, options) };
    }
    case 'none':
    case 'rewrite':
      return step.state;
  }
}

/** The next authority signs from now on; the one that did keeps its certificate and loses its key. */
function promote({ authority, next, previous }: State, options: IssueOptions): State {
  if (!next) throw new Error('there is no next authority');
  const { key: _, ...trusted } = authority;
  const authorities = [trusted, ...(previous?.authorities ?? [])];
  const until = previous?.until ?? options.now;
  return { authority: next, previous: trustLonger({ authorities, until }, options) };
}

/**
 * Authorities that do not sign from now on are trusted until what they signed has expired: a replica that is cut off
 * from the API server goes on serving. That is one life of a serving certificate from their last signature, which is
 * as old as the last reading of the Secret that had their key. The second life is for the time from `now` until this
 * is written.
 */
function trustLonger(previous: Previous, { now, leafDays }: IssueOptions): Previous {
  const end = Math.max(now.getTime() + 2 * leafDays * 24 * 60 * 60_000, previous.until.getTime());
  const last = Math.max(...previous.authorities.map(({ notAfter }) => notAfter.getTime()));
  return { ...previous, until: new Date(Math.min(end, last)) };
}

/** @throws CniGateError CNI_GATE_USAGE if the days cannot be used */
export function newAuthority(days: number, now: Date): SigningAuthority {
  const { certificate, key } = createAuthority({ days, now });
  return readAuthority(certificate, key);
}

/** Since when one replica has observed an authority in every caBundle, without interruption. */
export interface TrustedSince {
  fingerprint: string;
  /** The versions of the configurations: after a change of one the time starts again. */
  versions: string;
  /** Milliseconds of a monotonic clock. */
  since: number;
}

/**
 * Measures how long the next authority is trusted. A replica counts the time that it observed itself, by a monotonic
 * clock: a stored time would be over at once when the clock jumps, while an API server may not know the authority yet.
 *
 * @param before what this returned the last time
 * @param fingerprint of the next authority, if there is one
 * @param monotonicNow milliseconds of a monotonic clock, such as `performance.now()`
 * @returns undefined if a configuration does not trust the authority, or cannot be read
 */
export function measureTrust(
  before: TrustedSince | undefined,
  fingerprint: string | undefined,
  { found, failed }: Pick<Configurations, 'found' | 'failed'>,
  monotonicNow: number,
): TrustedSince | undefined {
  if (fingerprint === undefined || failed.size > 0) return undefined;
  const bundles = found.flatMap((each) => each.bundles);
  if (!bundles.every((bundle) => fingerprintsIn(bundle).has(fingerprint))) return undefined;
  const versions = found.map(({ name, version }) => `${name} ${version}`).join('\n');
  const same = before?.fingerprint === fingerprint && before.versions === versions;
  return { fingerprint, versions, since: same ? before.since : monotonicNow };
}
