import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Finding, failed, passed } from '../../../validator/finding.ts';
import { kernel, settled } from './kernel.ts';

const { untilAllPass } = await import('../../../validator/simultaneous.ts');
const { now, sleep } = await import('../../../validator/host/loop.ts');

/** A check for which the test sets the time-out, the findings, and the duration of an attempt. */
type Scripted = [name: string, timeout: number, finds: (at: number) => Finding | Error, duration?: number];

interface Ended {
  /** When each attempt of a check began. */
  attempts: Record<string, number[]>;
  /** What the checks reported, in order. */
  reported: [name: string, what: string][];
  findings: Finding[];
  /** The milliseconds from the start to the verdict. */
  after: number;
}

const yes = passed('it');
const no = failed('not-redirected', 'nothing');
/** The findings of a check that passes only within these spans of time. */
const within =
  (...spans: [from: number, to: number][]) =>
  (at: number): Finding =>
    spans.some(([from, to]) => at >= from && at < to) ? yes : no;
const always = (): Finding => yes;
const checkNameOf = (finding: Finding): string => (finding.passed ? 'passed' : finding.reason);

/** Runs checks with the simulated clock. */
async function run(...script: Scripted[]): Promise<Ended> {
  const start = kernel.now;
  const clock = (): number => now() - start;
  const attempts: Ended['attempts'] = {};
  const reported: Ended['reported'] = [];
  const checks = script.map(([name, timeout, finds, duration = 0]) => ({
    name,
    timeout,
    attempt: async (): Promise<Finding> => {
      attempts[name] = [...(attempts[name] ?? []), clock()];
      if (duration > 0) await sleep(duration);
      const found = finds(clock());
      if (found instanceof Error) throw found;
      return found;
    },
  }));
  const proving = untilAllPass(checks, ({ name }, finding) => reported.push([name, checkNameOf(finding)]));
  const findings = (await settled(proving)).map(({ finding }) => finding);
  return { attempts, reported, findings, after: clock() };
}

const verdictOf = ({ findings }: Ended): string[] => findings.map(checkNameOf);

test('checks that pass immediately run once', async () => {
  const ended = await run(['a', 5000, always], ['b', 5000, always, 200]);
  assert.deepEqual([verdictOf(ended), ended.attempts], [['passed', 'passed'], { a: [0], b: [0] }]);
});

test('a check that passes although nothing answers makes no other check outdated', async () => {
  // roundTrip in mode `prefer` waits 2 s for an answer, or 1 s in a repeat; each attempt of policy takes 1 s
  const silent = (): Finding => ({ ...passed('silence'), wayNotShown: true, preliminary: true });
  const ended = await run(
    ['roundTrip', 2000, silent, 100],
    ['policy', 30_000, always, 1000],
    ['address', 10_000, always],
  );
  assert.deepEqual(verdictOf(ended), ['passed', 'passed', 'passed']);
  assert.deepEqual([ended.attempts.policy, ended.attempts.address?.length], [[0, 1900], 3]);
  assert.ok(ended.after < 4100, `${ended.after} ms`);
});

test('a failed check is tried ten times a second until its time is over, or until nothing can change it', async () => {
  const whole = await run(['a', 1000, () => no]);
  assert.deepEqual(whole.attempts.a, [0, 100, 200, 300, 400, 500, 600, 700, 800]);
  const final = await run(['a', 1000, () => ({ ...no, final: true })]);
  assert.deepEqual(final.attempts.a, [0]);
});

test('a last attempt without processor time shows nothing; one with little does', async () => {
  const stopped =
    (milliseconds: number, found: Finding = no) =>
    (): Finding => {
      kernel.now += milliseconds;
      return found;
    };
  const starved = await run(['a', 500, stopped(5000)]);
  assert.deepEqual(verdictOf(starved), ['starved']);
  assert.match(starved.findings[0]?.seen ?? '', /^nothing, and no processor time for 5\.0 s$/);
  const slow = await run(['a', 500, stopped(300)]);
  assert.deepEqual(verdictOf(slow), ['not-redirected']);
  const silent = await run(['a', 500, stopped(5000, { ...yes, preliminary: true })]);
  assert.deepEqual(verdictOf(silent), ['passed']);
});

test('checks that passed early are repeated when the last one passes', async () => {
  const ended = await run(['a', 5000, always], ['b', 5000, within([3000, 9000])]);
  assert.deepEqual(verdictOf(ended), ['passed', 'passed']);
  assert.deepEqual(ended.attempts.a, [0, ended.attempts.b?.at(-1)]);
  assert.deepEqual(ended.reported, [
    ['a', 'passed'],
    ['b', 'passed'],
  ]);
});

test('a check whose time is over gets one more second', async () => {
  const lost = await run(
    ['a', 1000, (at) => (at >= 4000 && at < 4200 ? no : yes)],
    ['b', 10_000, within([4000, 20_000])],
  );
  assert.deepEqual(verdictOf(lost), ['passed', 'passed']);
});

test('a check with a preliminary pass is retried even after its time', async () => {
  const silence: Finding = { ...passed('it', 'no answer'), preliminary: true };
  const ended = await run(
    ['a', 1000, (at) => (at < 3600 ? silence : yes)],
    ['b', 10_000, within([3000, 20_000])],
  );
  assert.deepEqual(ended.findings, [yes, yes]);
});

test('slow checks are repeated a limited number of times', async () => {
  const ended = await run(
    ['a', 20_000, always, 900],
    ['b', 20_000, always, 2000],
    ['c', 20_000, within([3000, 20_000]), 400],
  );
  assert.deepEqual(verdictOf(ended), ['passed', 'passed', 'passed']);
  assert.ok(ended.after < 12_000, `${ended.after}`);
});

test('a failed check: nothing is repeated', async () => {
  const ended = await run(['a', 5000, always], ['b', 3000, () => no]);
  assert.deepEqual([verdictOf(ended), ended.attempts.a], [['passed', 'not-redirected'], [0]]);
});

test('an error ends only its own check', async () => {
  const ended = await run(['a', 5000, () => new Error('no such luck')], ['b', 5000, within([1000, 9000])]);
  assert.deepEqual([verdictOf(ended), ended.attempts.a], [['unexpected', 'passed'], [0]]);
});

test('a repeat that passes with another note is reported', async () => {
  const ended = await run(
    ['a', 5000, (at) => (at < 2000 ? yes : passed('it', 'with a note'))],
    ['b', 5000, within([3000, 9000])],
  );
  assert.deepEqual(
    ended.reported.map(([name]) => name),
    ['a', 'b', 'a'],
  );
  assert.deepEqual(ended.findings[0], passed('it', 'with a note'));
});

test('checks that pass in turn, but never together, fail', async () => {
  const turn =
    (nth: number) =>
    (at: number): Finding =>
      Math.floor(at / 400) % 2 === nth ? yes : no;
  const { findings, reported, after } = await run(['a', 3000, turn(0)], ['b', 3000, turn(1)]);
  assert.ok(
    findings.some((finding) => !finding.passed && /, after it passed before$/.test(finding.seen)),
    JSON.stringify(findings),
  );
  assert.deepEqual(reported.at(-1)?.[1], 'not-redirected');
  assert.ok(after < 10_000);
});
