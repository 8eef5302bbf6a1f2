import type { Result } from './finding.ts';
import type { Report } from './report.ts';

/**
 * A message longer than this is made shorter. The kubelet reads the last 4096 bytes of the file
 * (`MaxContainerTerminationMessageLength`), and its status manager then keeps the first part only: 12 KiB shared
 * evenly among all containers of the pod (`normalizeStatus`), 1 KiB each where there are twelve.
 */
export const mostBytes = 1024;

interface Entry {
  profile: string;
  check: string;
  family?: string;
  held: boolean;
  reason?: string;
  expected?: string;
  seen?: string;
  note?: string;
  proved?: string;
}

type Shortening = (entries: Entry[]) => Entry[];

const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length)}…` : text;

/** Each keeps what a reader needs more for longer: which check failed and why, then what was seen. */
const shortenings: Shortening[] = [
  (entries) => entries,
  (entries) => entries.map((entry) => (entry.held ? without(entry, 'expected', 'note') : entry)),
  (entries) => entries.map((entry) => (entry.held ? without(entry, 'seen') : entry)),
  (entries) => entries.map((entry) => without(entry, 'expected')),
  (entries) => entries.map((entry) => (entry.seen ? { ...entry, seen: cut(entry.seen, 60) } : entry)),
  (entries) => entries.map((entry) => without(entry, 'seen')),
  (entries) => entries.filter(({ held }) => !held),
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
  let entries = results.map(entryOf);
  for (const shorten of shortenings) {
    entries = shorten(entries);
    const text = JSON.stringify({ ...head, checks: entries });
    if (fits(text)) return text;
  }
  for (let count = entries.length - 1; count > 0; count--) {
    const text = JSON.stringify({ ...head, checks: entries.slice(0, count), more: entries.length - count });
    if (fits(text)) return text;
  }
  return JSON.stringify({ ...head, checks: [], more: entries.length });
}

const fits = (text: string): boolean => Buffer.byteLength(text) <= mostBytes;

function entryOf({ profile, check, family, proves, expected, finding }: Result): Entry {
  return {
    profile,
    check,
    ...(family !== undefined && { family }),
    held: finding.held,
    ...(!finding.held && { reason: finding.reason }),
    expected,
    seen: finding.seen,
    ...(finding.held && finding.note !== undefined && { note: finding.note }),
    ...(finding.held && proves !== undefined && { proved: proves }),
  };
}

function without(entry: Entry, ...names: ('expected' | 'seen' | 'note')[]): Entry {
  const result = { ...entry };
  for (const name of names) delete result[name];
  return result;
}
