import { type Finding, failed, NotReadable } from './finding.ts';
import { now, sleep, stallSince } from './host/loop.ts';

/** Milliseconds between two attempts: short compared with a late plugin, long compared with the cost of an attempt. */
const pause = 100;

/** The least time for an attempt, in milliseconds: a shorter one would find less than the one before it. */
const shortest = 100;

/** One attempt at a check, independent of others. @param deadline when it should end (see {@link now}) */
export type Attempt = (deadline: number) => Promise<Finding>;

/**
 * Repeats the attempt until it passes, until nothing can change the finding, or until the deadline: a plugin may be
 * late, and Istio's repair writes rules into running sandboxes. The last attempt of a starved program shows nothing.
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

/** A check that must pass together with others. */
export interface TimedAttempt {
  attempt: Attempt;
  /** How long it is retried, in milliseconds from the start. */
  timeout: number;
}

/** Findings that are at most this much older than the newest one count as of the same moment, in milliseconds. */
const moment = 250;

/** The least time that a repeated check gets, in milliseconds: one lost packet must not fail a pod. */
const grace = 1000;

/** How often checks are repeated: only a starved machine, or a network that changes all the time, gets that far. */
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
 * Runs the checks in parallel, each until it passes or its time is over. When the last one passes, those that passed
 * earlier are repeated. A check that fails its repeat is retried until its own time is over; then the others are
 * repeated. In the last repeat nothing is retried: checks that pass in turns, and never together, fail.
 * @param report called when a check ends, and without a finding when one that passed is retried
 */
export async function untilAllPass<Check extends TimedAttempt>(
  checks: Check[],
  report: (check: Check, finding: Finding | undefined) => void,
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

/** The checks to repeat before the pod is proved. None if a check failed: no repeat changes that. */
function outdatedOf<Check>(runs: Run<Check>[]): Run<Check>[] {
  if (!runs.every(({ finding }) => finding.passed)) return [];
  const newest = Math.max(...runs.map(({ at }) => at));
  return runs.filter(({ at }) => at < newest - moment);
}

/** Repeats a check that passed. If it no longer passes, or may find more, it is retried, except in the last repeat. */
async function repeat<Check>(
  run: Run<Check>,
  isLast: boolean,
  report: (finding: Finding | undefined) => void,
): Promise<void> {
  const { attempt, finding: before } = run;
  const deadline = Math.max(run.deadline, now() + grace);
  const first = await attempt(deadline);
  if (first.passed && !first.preliminary) {
    run.finding = first;
    if (before.passed && before.note !== first.note) report(first);
  } else {
    report(undefined);
    const isFinal = !first.passed && (first.final || isLast);
    const finding = isFinal ? first : await untilPassed(deadline, attempt);
    run.finding = finding.passed ? finding : { ...finding, seen: `${finding.seen}, after it passed before` };
    report(run.finding);
  }
  run.at = now();
}

/** An error says nothing about the network and must not end the other checks. */
function withoutThrowing(attempt: Attempt): Attempt {
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
