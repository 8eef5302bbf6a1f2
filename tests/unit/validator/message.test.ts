import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failed, passed, type Result } from '../../../validator/finding.ts';
import { sentenceOn, verdictSentence } from '../../../validator/log.ts';
import { readMessage } from '../../../validator/shared/message.ts';
import { exitCodeFor, terminationMessage } from '../../../validator/verdict.ts';
import { bad, good, redirectResult, reportOn } from './fixtures.ts';

const parse = (text: string): Record<string, unknown> & { checks: Record<string, unknown>[] } =>
  JSON.parse(text);

/** The bytes that the kubelet keeps of each message if a pod has twelve containers, including the final line break. */
const kept = 1024;
const bytesOf = (message: string): number => Buffer.byteLength(message) + 1;

/** A result whose texts are longer than those of any profile. Each character takes more than one byte. */
const long = (reason: 'gateway-silent' | undefined, length: number): Result => ({
  ...good,
  expected: 'ü'.repeat(length),
  finding: reason ? failed(reason, '»'.repeat(length)) : passed('»'.repeat(length), 'ü'.repeat(length)),
});

for (const count of [1, 2, 5, 20, 200])
  for (const length of [1, 100, 5000])
    test(`${count} checks of ${length} characters stay below what the kubelet keeps`, () => {
      const results = Array.from({ length: count }, (_, at) =>
        long(at % 2 ? undefined : 'gateway-silent', length),
      );
      const text = terminationMessage(reportOn(results));
      assert.ok(bytesOf(text) <= kept, `${bytesOf(text)} bytes`);
      const { verdict, code, checks } = parse(text);
      assert.deepEqual({ verdict, code }, { verdict: 'failed', code: 95 });
      assert.equal(checks[0]?.reason, 'gateway-silent');
    });

test('checks that passed are shortened before checks that failed', () => {
  const [first, second] = parse(
    terminationMessage(reportOn([long(undefined, 300), bad('port-taken')])),
  ).checks;
  assert.equal(first?.expected, undefined);
  assert.ok(second?.expected);
  assert.ok(second?.seen);
});

test('the note of a check stays longer than what it expected and saw', () => {
  const noted = { ...good, expected: 'x'.repeat(600), finding: passed('y'.repeat(600), 'z'.repeat(300)) };
  const [one] = parse(terminationMessage(reportOn([noted]))).checks;
  assert.deepEqual([one?.expected, one?.seen, one?.note], [undefined, undefined, 'z'.repeat(300)]);
});

for (const [what, character] of [
  ['letters', 'x'],
  ['characters that JSON escapes', '\u0001'],
  ['half of a character', '\ud83d'],
  ['characters of four bytes', '😀'],
] as const)
  test(`a long problem of ${what} is cut`, () => {
    const text = terminationMessage(
      reportOn([], { verdict: 'wrong-usage', code: 64, problem: character.repeat(9000) }),
    );
    assert.ok(bytesOf(text) <= kept, `${bytesOf(text)} bytes`);
    assert.match(String(parse(text).problem), /^.{30,}…$/su);
  });

test('a message fits to the byte', () => {
  for (let length = 1; length < 1000; length++) {
    const text = terminationMessage(reportOn([{ ...bad('port-taken'), expected: `ü${'x'.repeat(length)}` }]));
    assert.ok(bytesOf(text) <= kept, `${length}`);
  }
});

test('the message counts the omitted checks, including passed ones', () => {
  const passed = Array.from({ length: 1000 }, () => good);
  const { checks, more } = parse(terminationMessage(reportOn(passed)));
  assert.equal(checks.length + Number(more), 1000);
  const [one, other] = [
    parse(terminationMessage(reportOn([...passed, bad('port-taken')]))),
    parse(terminationMessage(reportOn([good]))),
  ];
  assert.deepEqual([one.checks.length, one.more], [1, 1000]);
  assert.equal(other.more, undefined);
});

test('the webhook reads what the validator writes', () => {
  const unanswered = redirectResult({ ...passed('nothing', 'no answer'), wayNotShown: true });
  const results = [good, unanswered, bad('not-redirected')];
  const { checks, seconds } = parse(terminationMessage(reportOn(results)));
  assert.equal(seconds, 10.02);
  assert.deepEqual(readMessage(terminationMessage(reportOn(results))), {
    code: 95,
    wayNotShown: true,
    checks,
  });
  const wrong = { verdict: 'wrong-usage', code: 64, problem: 'no checks' } as const;
  assert.deepEqual(readMessage(terminationMessage(reportOn([], wrong))), {
    code: 64,
    problem: 'no checks',
    checks: [],
  });
});

test("from another program's message, only fields of the right type are read", () => {
  const long = 'x'.repeat(65_536);
  for (const text of [
    undefined,
    null,
    '',
    'null',
    '7',
    '[]',
    '{}',
    'not JSON',
    '{"checks":7}',
    '{"checks":[null,7]}',
  ])
    assert.deepEqual(readMessage(text), { checks: [] }, String(text));
  assert.deepEqual(readMessage(`{"code":95,"problem":"${long}"}`), { checks: [] });
  assert.deepEqual(readMessage('{"code":"95","wayNotShown":1,"problem":{}}'), {
    code: Number.NaN,
    checks: [],
  });
  const checks = [
    { profile: 'cilium', passed: true },
    { profile: 7, passed: false },
    { profile: 'linkerd', passed: 0 },
  ];
  const expected = [{ profile: 'cilium', passed: true }, { passed: false }];
  assert.deepEqual(readMessage(JSON.stringify({ checks })), { checks: expected });
});

test('the line of a check says what was expected and seen, and after a failure also what to check', () => {
  assert.equal(
    sentenceOn(good),
    'linkerd: redirect IPv4 passed: expected a connection to 192.0.2.2:1404 to end at port 4140 by the ' +
      'outbound rule; saw a connection to 192.0.2.2:1404 end at port 4140 in the pod.',
  );
  assert.match(
    sentenceOn(bad('not-redirected')),
    /^linkerd: redirect IPv4 failed \(not-redirected\): expected .+; saw no answer from 192\.0\.2\.2:1404\. Check /,
  );
  const { family: _, ...ofPod } = bad('interface-missing');
  assert.match(sentenceOn({ ...ofPod, check: 'interfaces' }), /^linkerd: interfaces failed/);
});

test('the last line is the verdict', () => {
  assert.equal(verdictSentence(reportOn([good])), 'verdict: passed (0) after 10.020 s.');
  assert.equal(
    verdictSentence(reportOn([good, bad('no-route'), bad('not-redirected')])),
    'verdict: failed (95) after 10.020 s: linkerd redirect IPv4 no-route; linkerd redirect IPv4 not-redirected.',
  );
  assert.equal(
    verdictSentence(reportOn([bad('not-redirected')], { warn: true })),
    'verdict: failed (95) after 10.020 s: linkerd redirect IPv4 not-redirected; proof.mode is warn, so the exit ' +
      'code is 0 and the pod starts.',
  );
  const noted = redirectResult(passed('nothing', 'there was none'));
  assert.equal(
    verdictSentence(reportOn([good, noted])),
    'verdict: passed (0) after 10.020 s, with a note on linkerd redirect IPv4.',
  );
  assert.equal(
    verdictSentence(reportOn([noted, bad('no-route')])),
    'verdict: not-possible (69) after 10.020 s: linkerd redirect IPv4 no-route.',
  );
  assert.equal(
    verdictSentence(reportOn([], { verdict: 'stopped', code: 143, problem: 'SIGTERM came' })),
    'verdict: stopped (143) after 10.020 s: SIGTERM came.',
  );
});

test('warn: exit 0 for any finding; the code of a signal stays', () => {
  assert.equal(exitCodeFor({ verdict: 'failed', code: 95 }, true), 0);
  assert.equal(exitCodeFor({ verdict: 'wrong-usage', code: 64 }, true), 0);
  assert.equal(exitCodeFor({ verdict: 'stopped', code: 143 }, true), 143);
  assert.equal(exitCodeFor({ verdict: 'failed', code: 95 }, false), 95);
});
