import { type Finding, failed, NotReadable } from './finding.ts';
import { now, sleep, stallSince } from './host/loop.ts';

/** The pause between two attempts, in milliseconds: longer than an attempt, but shorter than a plugin's delay. */
const pause = 100;

/** The shortest useful attempt, in milliseconds: a shorter one would show less than the attempt before. */
const shortest = 100;

/** One attempt at a check, independent of all others. @param deadline when it should end (see {@link now}) */
export type Attempt = (deadline: number) => Promise<Finding>;

/**
 * Repeats the attempt until it passes, its finding is final, or the deadline has passed: a plugin may be late, and
 * Istio's repair writes rules into running sandboxes. If the process lacked CPU time, a failure becomes `starved`.
 */
export async function untilPassed(deadline: number, attempt: Attempt): Promise<Finding> {
  for (let since = now(); ; since = now(), await sleep(pause)) {
    const finding = await attempt(deadline);
    const stall = stallSince(since);
    const settled = finding.passed ? !finding.preliminary : finding.final;
    if (settled) return finding;
    if (now() + pause + shortest >= deadline) {
      if (finding.passed || stall === 0) return finding;
      return failed('starved', `${finding.seen}, and no processor time for ${(stall / 1000).toFixed(1)} s`);
    }
  }
}

/** A check that must pass at the same time as all others. */
export interface TimedAttempt {
  attempt: Attempt;
  /** How long the attempt is repeated, in milliseconds from the start. */
  timeout: number;
}

/** Findings count as simultaneous if none is more than this many milliseconds older than the newest. */
const moment = 250;

/** A repeated check gets at least this many milliseconds, because a single lost packet must not fail a pod. */
const grace = 1000;

/** The maximum number of repeats. Only a starved machine, or a network that keeps changing, needs more. */
const mostRepeats = 5;

interface Run<Check> {
  check: Check;
  attempt: Attempt;
  deadline: number;
  finding: Finding;
  /** When the finding was made. */
  at: number;
}

/**
 * Runs the checks in parallel, each until it passes or its time is over. When all have passed, those that passed
 * earlier than the last one are repeated. A check that fails its repeat is retried until its time is over, and then the
 * others are repeated again. The last repeat has no retries, so checks that pass in turn, but never together, fail.
 * @param report called when a check ends, and again if a repeat of it fails or has another note
 */
export async function untilAllPass<Check extends TimedAttempt>(
  checks: Check[],
  report: (check: Check, finding: Finding) => void,
): Promise<{ check: Check; finding: Finding }[]> {
  const start = now();
  const runs = await Promise.all(
    checks.map(async (check): Promise<Run<Check>> => {
      const attempt = withoutThrowing(check.attempt);
      const deadline = start + check.timeout;
      const finding = await untilPassed(deadline, attempt);
      report(check, finding);
      return { check, attempt, deadline, finding, at: now() };
    }),
  );
  for (let repeats = 1; repeats <= mostRepeats; repeats++) {
    const outdated = outdatedOf(runs);
    if (outdated.length === 0) break;
    const isLast = repeats === mostRepeats;
    await Promise.all(outdated.map((run) => repeat(run, isLast, (finding) => report(run.check, finding))));
  }
  return runs;
}

/**
 * The checks to repeat before all count as passed. None if a check failed: a repeat would not undo this. A
 * check that passed although nothing answered makes no other check outdated, but a repeat may get an answer.
 */
function outdatedOf<Check>(runs: Run<Check>[]): Run<Check>[] {
  if (!runs.every(({ finding }) => finding.passed)) return [];
  const shown = runs.filter(({ finding }) => !(finding.passed && finding.wayNotShown));
  const newest = Math.max(...shown.map(({ at }) => at));
  return runs.filter(({ at }) => at < newest - moment);
}

/** Repeats a check that passed. Except in the last repeat, retries it until its time is over. */
async function repeat<Check>(
  run: Run<Check>,
  isLast: boolean,
  report: (finding: Finding) => void,
): Promise<void> {
  const { attempt, finding: before } = run;
  const deadline = Math.max(run.deadline, now() + grace);
  const finding = isLast ? await attempt(deadline) : await untilPassed(deadline, attempt);
  run.finding = finding.passed ? finding : { ...finding, seen: `${finding.seen}, after it passed before` };
  run.at = now();
  if (!finding.passed || (before.passed && before.note !== finding.note)) report(run.finding);
}

/** Converts an error to a finding: an error shows nothing about the network, and must not end other checks. */
export function withoutThrowing(attempt: Attempt): Attempt {
  return async (deadline) => {
    try {
      return await attempt(deadline);
    } catch (error) {
      const isKnown = error instanceof NotReadable;
      const found = isKnown ? failed('not-readable', error.message) : failed('unexpected', String(error));
      return { ...found, final: true };
    }
  };
}
