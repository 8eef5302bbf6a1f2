import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Finding, failed, passed } from '../../../validator/finding.ts';
import { kernel, settled } from './kernel.ts';

const { untilAllPass } = await import('../../../validator/simultaneous.ts');
const { now, sleep } = await import('../../../validator/host/loop.ts');

/** A check whose findings, and the time that they take, are set by the test. */
interface Scripted {
  name: string;
  timeout: number;
  duration?: number;
  finds: (at: number) => Finding | Error;
}

interface Ended {
  /** When each attempt of a check began. */
  attempts: Record<string, number[]>;
  /** What was reported about the checks, in order. */
  reported: [name: string, what: string][];
  findings: Finding[];
  /** After how many milliseconds the verdict was there. */
  after: number;
}

const yes = passed('it');
const no = failed('not-redirected', 'nothing');
/** A check that passes only within any of these spans of time. */
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
  const checks = script.map(({ name, timeout, duration = 0, finds }) => ({
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
  const ended = await run(
    { name: 'a', timeout: 5000, finds: always },
    { name: 'b', timeout: 5000, duration: 200, finds: always },
  );
  assert.deepEqual([verdictOf(ended), ended.attempts], [['passed', 'passed'], { a: [0], b: [0] }]);
});

test('a check that passes although nothing answers makes no other check outdated', async () => {
  // roundTrip with `prefer` waits for two seconds, and a second in a repeat; policy watches for a second
  const silent = (): Finding => ({ ...passed('silence'), wayNotShown: true, preliminary: true });
  const ended = await run(
    { name: 'roundTrip', timeout: 2000, duration: 100, finds: silent },
    { name: 'policy', timeout: 30_000, duration: 1000, finds: always },
    { name: 'address', timeout: 10_000, finds: always },
  );
  assert.deepEqual(verdictOf(ended), ['passed', 'passed', 'passed']);
  assert.deepEqual([ended.attempts.policy, ended.attempts.address?.length], [[0, 1900], 3]);
  assert.ok(ended.after < 4100, `${ended.after} ms`);
});

test('a failed check is tried ten times a second until its time is over, or until nothing can change it', async () => {
  const script = { name: 'a', timeout: 1000 };
  const whole = await run({ ...script, finds: () => no });
  assert.deepEqual(whole.attempts.a, [0, 100, 200, 300, 400, 500, 600, 700, 800]);
  const final = await run({ ...script, finds: () => ({ ...no, final: true }) });
  assert.deepEqual(final.attempts.a, [0]);
});

test('a last attempt without processor time shows nothing; one with little does', async () => {
  const stopped =
    (milliseconds: number, found: Finding = no) =>
    (): Finding => {
      kernel.now += milliseconds;
      return found;
    };
  const starved = await run({ name: 'a', timeout: 500, finds: stopped(5000) });
  assert.deepEqual(verdictOf(starved), ['starved']);
  assert.match(starved.findings[0]?.seen ?? '', /^nothing, and no processor time for 5\.0 s$/);
  const slow = await run({ name: 'a', timeout: 500, finds: stopped(300) });
  assert.deepEqual(verdictOf(slow), ['not-redirected']);
  const silent = await run({ name: 'a', timeout: 500, finds: stopped(5000, { ...yes, preliminary: true }) });
  assert.deepEqual(verdictOf(silent), ['passed']);
});

test('checks that passed early are repeated when the last one passes', async () => {
  const ended = await run(
    { name: 'a', timeout: 5000, finds: always },
    { name: 'b', timeout: 5000, finds: within([3000, 9000]) },
  );
  assert.deepEqual(verdictOf(ended), ['passed', 'passed']);
  assert.deepEqual(ended.attempts.a, [0, ended.attempts.b?.at(-1)]);
  assert.deepEqual(ended.reported, [
    ['a', 'passed'],
    ['b', 'passed'],
  ]);
});

test('a check whose time is over gets one more second', async () => {
  const lost = await run(
    { name: 'a', timeout: 1000, finds: (at) => (at >= 4000 && at < 4200 ? no : yes) },
    { name: 'b', timeout: 10_000, finds: within([4000, 20_000]) },
  );
  assert.deepEqual(verdictOf(lost), ['passed', 'passed']);
});

test('a check with a preliminary pass is retried even after its time', async () => {
  const silence: Finding = { ...passed('it', 'no answer'), preliminary: true };
  const ended = await run(
    { name: 'a', timeout: 1000, finds: (at) => (at < 3600 ? silence : yes) },
    { name: 'b', timeout: 10_000, finds: within([3000, 20_000]) },
  );
  assert.deepEqual(ended.findings, [yes, yes]);
});

test('slow checks are repeated a limited number of times', async () => {
  const ended = await run(
    { name: 'a', timeout: 20_000, duration: 900, finds: always },
    { name: 'b', timeout: 20_000, duration: 2000, finds: always },
    { name: 'c', timeout: 20_000, duration: 400, finds: within([3000, 20_000]) },
  );
  assert.deepEqual(verdictOf(ended), ['passed', 'passed', 'passed']);
  assert.ok(ended.after < 12_000, `${ended.after}`);
});

test('a failed check: nothing is repeated', async () => {
  const ended = await run(
    { name: 'a', timeout: 5000, finds: always },
    { name: 'b', timeout: 3000, finds: () => no },
  );
  assert.deepEqual([verdictOf(ended), ended.attempts.a], [['passed', 'not-redirected'], [0]]);
});

test('an error ends only its own check', async () => {
  const ended = await run(
    { name: 'a', timeout: 5000, finds: () => new Error('no such luck') },
    { name: 'b', timeout: 5000, finds: within([1000, 9000]) },
  );
  assert.deepEqual([verdictOf(ended), ended.attempts.a], [['unexpected', 'passed'], [0]]);
});

test('a repeat that passes with another note is reported', async () => {
  const ended = await run(
    { name: 'a', timeout: 5000, finds: (at) => (at < 2000 ? yes : passed('it', 'with a note')) },
    { name: 'b', timeout: 5000, finds: within([3000, 9000]) },
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
  const { findings, reported, after } = await run(
    { name: 'a', timeout: 3000, finds: turn(0) },
    { name: 'b', timeout: 3000, finds: turn(1) },
  );
  assert.ok(
    findings.some((finding) => !finding.passed && /, after it passed before$/.test(finding.seen)),
    JSON.stringify(findings),
  );
  assert.deepEqual(reported.at(-1)?.[1], 'not-redirected');
  assert.ok(after < 10_000);
});
