import type { Result } from './finding.ts';
import { fitText, inBytes } from './shared/fit-text.ts';
import type { Report } from './verdict.ts';

/**
 * A longer message is shortened. The kubelet reads the last 4096 bytes of the file
 * (`MaxContainerTerminationMessageLength`), and its status manager then keeps the first part only: 12 KiB shared evenly
 * among all containers of the pod (`normalizeStatus`), 1 KiB each if there are twelve. The line break at the end
 * counts.
 */
export const mostBytes = 1024;

/** The least bytes of an entry: its keys alone have more. */
const leastEntry = 32;

interface Entry {
  profile: string;
  check: string;
  family?: string;
  passed: boolean;
  reason?: string;
  expected?: string;
  seen?: string;
  note?: string;
  proved?: string;
}

type Shortening = (entries: Entry[]) => Entry[];

/** Cuts a text so that it has at most this many bytes as JSON: an escape has up to six. */
const cut = (text: string, bytes: number): string => fitText(text, bytes, inJson);

const inJson = (character: string): number => inBytes(JSON.stringify(character)) - 2;

/**
 * Applied in this order until the message fits. What a reader needs most stays longest: which check failed and why,
 * then what was seen, then the note of a check that passed.
 */
const shortenings: Shortening[] = [
  (entries) => entries,
  (entries) => entries.map((entry) => (entry.passed ? without(entry, 'expected') : entry)),
  (entries) => entries.map((entry) => (entry.passed ? without(entry, 'seen') : entry)),
  (entries) => entries.map((entry) => (entry.note ? { ...entry, note: cut(entry.note, 80) } : entry)),
  (entries) => entries.map((entry) => without(entry, 'note')),
  (entries) => entries.map((entry) => without(entry, 'expected')),
  (entries) => entries.map((entry) => (entry.seen ? { ...entry, seen: cut(entry.seen, 60) } : entry)),
  (entries) => entries.map((entry) => without(entry, 'seen')),
  (entries) => entries.filter(({ passed }) => !passed),
];

/** One line of JSON for the termination log. */
export function terminationMessage(report: Report): string {
  const { verdict, code, warn, sandbox, seconds, problem, results } = report;
  const head = {
    verdict,
    code,
    ...(warn && { mode: 'warn' }),
    sandbox,
    seconds: Math.round(seconds * 1000) / 1000,
    ...(problem !== undefined && { problem: cut(problem, 300) }),
  };
  const lineOf = (checks: Entry[]): string => {
    const more = results.length - checks.length;
    return JSON.stringify({ ...head, checks, ...(more > 0 && { more }) });
  };
  let entries = results.map(entryOf);
  for (const shorten of shortenings) {
    entries = shorten(entries);
    if (fits(lineOf(entries))) return lineOf(entries);
  }
  // a text of hostile length is not tried entry by entry
  entries = entries.slice(0, mostBytes / leastEntry);
  while (entries.length > 0 && !fits(lineOf(entries))) entries = entries.slice(0, -1);
  return lineOf(entries);
}

const fits = (text: string): boolean => text.length < mostBytes && inBytes(`${text}\n`) <= mostBytes;

function entryOf({ profile, check, family, proves, expected, finding }: Result): Entry {
  return {
    profile,
    check,
    ...(family !== undefined && { family }),
    passed: finding.passed,
    ...(!finding.passed && { reason: finding.reason }),
    expected,
    seen: finding.seen,
    ...(finding.passed && finding.note !== undefined && { note: finding.note }),
    ...(finding.passed && proves !== undefined && { proved: proves }),
  };
}

function without(entry: Entry, ...names: ('expected' | 'seen' | 'note')[]): Entry {
  const result = { ...entry };
  for (const name of names) delete result[name];
  return result;
}
