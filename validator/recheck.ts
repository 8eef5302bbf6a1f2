import type { Witness } from './checks/witness.ts';
import type { Finding, Result } from './finding.ts';
import { close, now } from './host/loop.ts';
import { native, randomShare } from './host/native.ts';
import { acceptAll, accepting } from './host/tcp.ts';
import type { Rechecks } from './input.ts';
import { log, named, sentenceOn } from './log.ts';
import { laterForm, type Step } from './plan.ts';
import type { Pod } from './pod.ts';
import { attemptAt, resultOf } from './prove.ts';
import { type Reason, reasons } from './reasons.ts';
import { exitCode } from './shared/contract.ts';
import { type Attempt, untilPassed, withoutThrowing } from './simultaneous.ts';

/** The command with which the program at rest becomes this program again. Its arguments are the {@link Memory}. */
const recheckCommand = 'recheck';

/** What the program keeps while it is at rest. A descriptor is -1 if there is none. */
export interface Memory {
  /** How many consecutive rechecks have failed. */
  failures: number;
  /** The listener for the readiness probe, open while the pod may be ready. */
  readiness: number;
  /**
   * The listener for the startup probe: a kubelet older than 1.35 repeats this probe after the kubelet itself has
   * restarted.
   */
  startup: number;
}

/** Reads the memory from the command line; undefined if the command is not {@link recheckCommand}. */
export function readMemory([command, ...numbers]: string[]): Memory | undefined {
  const [failures = -1, readiness = -1, startup = -1] = numbers.map(Number);
  const isMemory = command === recheckCommand && numbers.length === 3 && failures >= 0;
  return isMemory ? { failures, readiness, startup } : undefined;
}

/** Replaces this program with a small one, which becomes this program again after `wait` milliseconds (-1: never). */
export function rest({ failures, readiness, startup }: Memory, wait = -1): never {
  const listeners = [readiness, startup].filter((listener) => listener >= 0);
  native.rest(listeners, wait, [recheckCommand, ...[failures, readiness, startup].map(String)]);
  return native.exit(exitCode.notPossible);
}

/** Takes over the listeners of the program at rest, and continues to accept and close connections. */
export function adoptListeners({ readiness, startup }: Memory): void {
  for (const listener of [readiness, startup]) if (listener >= 0) acceptAll(native.adopt(listener), close);
}

/** Opens the listener for the readiness probe. Returns the listener, or the code of the error. */
export const openReadiness = (port: number, { family }: Witness): number | string =>
  accepting(port, family, close);

/** Rests until the first recheck. */
export function restAfterPass(settings: Rechecks, memory: Memory, steps: Step[]): never {
  const hasSteps = laterForm(steps, settings.policy === true).length > 0;
  return rest(memory, hasSteps ? waitFor(settings.interval, 0, 0, randomShare()) : -1);
}

/**
 * What a recheck shows. `partly`: some checks passed, and the others show no loss; this is a pass unless the
 * network is already lost. `nothing`: no check passed or shows a loss; this is neither a pass nor a failure.
 */
export type Outcome = 'passed' | 'partly' | 'failed' | 'nothing';

/**
 * The longest wait, in milliseconds, between rechecks while the readiness port is closed. `unknown`: in a restarted
 * container, until a recheck passes or the network is lost. `lost`: after a loss.
 */
const pauses = { unknown: 2000, lost: 10_000 };

/**
 * The minimum pause after a recheck, as a share of the interval: on a busy node, the next recheck would otherwise
 * follow immediately.
 */
const leastPause = 0.2;

/**
 * How many milliseconds to rest after a recheck that took `elapsed`. After a failure, the next recheck starts one
 * interval after this one started, so three failures span at least two intervals. Otherwise the next recheck
 * starts up to 20 % earlier or later, so that the pods of a node do not recheck at the same time.
 * @param share a random number from 0 to 1
 */
export const waitFor = (interval: number, failures: number, elapsed: number, share: number): number =>
  Math.round(Math.max(interval * (failures > 0 ? 1 : 0.8 + 0.4 * share) - elapsed, interval * leastPause));

/**
 * Reasons for `not-possible` in a proof that show a loss in a recheck: the pod had an address and a route
 * when the proof passed.
 */
const lossy: Reason[] = ['address-unknown', 'no-route'];

/**
 * Whether a result shows a loss of the network. A proxy that does not listen is no loss (the status of its
 * container shows that). Nor is a failed connect to an `allowed` target: the target or the DNS may be down.
 */
function showsLoss({ check, finding }: Pick<Result, 'check' | 'finding'>): boolean {
  if (finding.passed || (check === 'redirect' && finding.reason === 'no-listener')) return false;
  if (check === 'policy') return finding.reason === 'policy-not-in-force';
  return reasons[finding.reason].code === exitCode.failed || lossy.includes(finding.reason);
}

export function outcomeOf(results: Pick<Result, 'check' | 'finding'>[]): Outcome {
  if (results.some(showsLoss)) return 'failed';
  if (results.every(({ finding }) => finding.passed)) return 'passed';
  return results.some(({ finding }) => finding.passed) ? 'partly' : 'nothing';
}

/**
 * Makes one recheck: runs each check in its later form (see {@link laterForm}), with retries until it passes or its
 * time is over. Then rests again.
 */
export async function recheck(
  before: Memory,
  settings: Rechecks,
  { steps, pod, witness }: { steps: Step[]; pod: Pod; witness: Witness | undefined },
): Promise<never> {
  const start = now();
  const { failures: most, interval, port } = settings;
  const results = await Promise.all(
    laterForm(steps, settings.policy === true).map(async (step) => {
      const deadline = start + Math.min(step.timeout, interval / 5);
      return resultOf(step, pod, await untilPassed(deadline, withoutPatience(attemptAt(step, pod))));
    }),
  );
  const outcome = outcomeOf(results);
  const hasPassed = outcome === 'passed' || (outcome === 'partly' && before.failures < most);
  const failures = hasPassed ? 0 : before.failures + (outcome === 'failed' ? 1 : 0);
  const wait = (): number => waitFor(interval, failures, now() - start, randomShare());
  const state = (word: string): string =>
    port === undefined ? '' : `, and the readiness port ${port} is ${word}`;
  let { readiness } = before;
  if (hasPassed) {
    const opened = port && witness && readiness < 0 ? openReadiness(port, witness) : readiness;
    if (typeof opened === 'string') {
      log(`the readiness port ${port} cannot be opened: ${opened}.`);
      return rest(before, wait());
    }
    readiness = opened;
    if (before.failures >= most) log(`network recovered: a recheck passed${state('open')}.`);
    return rest({ ...before, failures, readiness }, wait());
  }
  if (outcome === 'failed') {
    const losses = results.filter(showsLoss);
    const causes = losses
      .map((it) => `${named(it)} ${it.finding.passed ? '' : it.finding.reason}`)
      .join('; ');
    if (failures >= most && readiness >= 0) {
      close(readiness);
      readiness = -1;
    }
    if (failures === 1) {
      for (const loss of losses) log(sentenceOn(loss));
      log(`recheck failed (${failures} of ${most}): ${causes}.`);
    }
    if (failures === most)
      log(`network lost: ${most} rechecks in a row failed${state('closed')}: ${causes}.`);
  }
  // when the network works again, the pod must not stay out of its Services for a whole interval
  const longest = failures < most ? pauses.unknown : pauses.lost;
  const isClosed = port !== undefined && readiness < 0;
  return rest({ ...before, failures, readiness }, isClosed ? Math.min(wait(), longest) : wait());
}

/**
 * Accepts a preliminary pass, and drops its note: the check already passed in the first proof, so waiting for more
 * detail would show nothing new.
 */
function withoutPatience(attempt: Attempt): Attempt {
  const safe = withoutThrowing(attempt);
  return async (deadline): Promise<Finding> => {
    const finding = await safe(deadline);
    return finding.passed ? { passed: true, seen: finding.seen } : finding;
  };
}
