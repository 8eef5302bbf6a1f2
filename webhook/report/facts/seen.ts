import { texts } from '../../lib/limits.ts';

/** The parts of a termination message that are read. */
interface Message {
  problem?: unknown;
  checks?: unknown;
}

interface Check {
  profile?: unknown;
  check?: unknown;
  family?: unknown;
  passed?: unknown;
  reason?: unknown;
  seen?: unknown;
}

/**
 * What the first check that did not pass saw, from the termination message of our init container, in a few words.
 * Undefined where the message has none: the container crashed, or runs a network's own validator.
 */
export function seenIn(message: string): string | undefined {
  let report: Message | null;
  try {
    report = JSON.parse(message);
  } catch {
    return undefined;
  }
  if (typeof report?.problem === 'string') return cut(report.problem);
  const checks: (Check | null)[] = Array.isArray(report?.checks) ? report.checks : [];
  const found = checks.find((one) => one?.passed === false);
  if (!found) return undefined;
  const words = [found.profile, found.check, found.family, found.reason];
  const name = words.filter((word) => typeof word === 'string').join(' ');
  return cut(typeof found.seen === 'string' ? `${name}: saw ${found.seen}` : name);
}

const cut = (text: string): string => text.slice(0, texts.quoted);
