import { CniGateError } from '../webhook/lib/errors.ts';

/** The time in which a certificate is in force, both ends included (RFC 5280, 4.1.2.5). */
export interface Period {
  notBefore: Date;
  notAfter: Date;
}

/** How far the clock of whoever connects may be behind ours. */
const allowedSkewMs = 5 * 60_000;
const dayMs = 24 * 60 * 60_000;
/** The last second that a certificate can name: its years have four digits (RFC 5280, 4.1.2.5.2). */
const lastMoment = Date.UTC(9999, 11, 31, 23, 59, 59);

/**
 * The period of a certificate made now: it begins five minutes ago, for clocks that are behind, and ends `days`
 * from now. Both ends are cut to whole seconds, because a certificate knows no finer time.
 *
 * @param now the time to count from
 * @param days the days from now until the end, greater than zero; parts of a day are allowed
 * @param within the period of the authority that signs. What outlives its authority is refused by clients, so
 *   the period is cut to fit.
 * @throws CniGateError CNI_GATE_USAGE where `days` is not a number of days that a certificate can have
 */
export function periodFrom(now: Date, days: number, within?: Period): Period {
  const start = wholeSeconds(now.getTime() - allowedSkewMs);
  const end = wholeSeconds(now.getTime() + days * dayMs);
  // Put so that days or a time that are no number fall on the refusing side.
  if (!(end > wholeSeconds(now.getTime()) && end <= lastMoment)) {
    throw new CniGateError(
      'CNI_GATE_USAGE',
      `A certificate must last a second or more and end before the year 10000; asked for were ${days} days.`,
    );
  }
  return {
    notBefore: new Date(Math.max(start, within?.notBefore.getTime() ?? start)),
    notAfter: new Date(Math.min(end, within?.notAfter.getTime() ?? end)),
  };
}

/**
 * Whether a certificate should be replaced: from two thirds of its life on, so that a third is left in which a
 * renewal that fails can be tried again. cert-manager renews by the same default.
 *
 * @param now the time to judge by
 */
export function renewalDue({ notBefore, notAfter }: Period, now: Date): boolean {
  // In whole milliseconds, multiplied instead of divided: no rounding at the boundary.
  const life = notAfter.getTime() - notBefore.getTime();
  const age = now.getTime() - notBefore.getTime();
  return age * 3 >= life * 2;
}

/** Whether a time lies in a period, both ends included. */
export function inForce({ notBefore, notAfter }: Period, now: Date): boolean {
  return now >= notBefore && now <= notAfter;
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}
