import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failed, held, type Result } from '../../../validator/finding.ts';
import { mostBytes, terminationMessage } from '../../../validator/message.ts';
import { bad, good, reportOn } from './fixtures.ts';

const parse = (text: string): Record<string, unknown> & { checks: Record<string, unknown>[] } =>
  JSON.parse(text);

test('one line of JSON with verdict, sandbox, and what each check expected and saw', () => {
  const text = terminationMessage(reportOn([good, bad('not-redirected')]));
  assert.ok(!text.includes('\n'));
  const expected = 'a connection to 192.0.2.2:1404 to come back to port 4140 by the outbound rule';
  assert.deepEqual(parse(text), {
    verdict: 'failed',
    code: 95,
    sandbox: { netns: '4026532008', bootId: '2b69365d-97f3-4560-a536-6b914ac46258' },
    seconds: 10.02,
    checks: [
      {
        profile: 'linkerd',
        check: 'redirect',
        family: 'IPv4',
        held: true,
        expected,
        seen: 'the own token come back from 192.0.2.2:1404',
        proved: 'outbound',
      },
      {
        profile: 'linkerd',
        check: 'redirect',
        family: 'IPv4',
        held: false,
        reason: 'not-redirected',
        expected,
        seen: 'no answer from 192.0.2.2:1404',
      },
    ],
  });
});

test('warn mode says so beside the code that it would have ended with', () => {
  const { mode, code } = parse(terminationMessage(reportOn([bad('no-route')], { warn: true })));
  assert.deepEqual({ mode, code }, { mode: 'warn', code: 69 });
});

/** Longer than any profile would have it, and more bytes than characters. */
const long = (reason: 'gateway-silent' | undefined, length: number): Result => ({
  ...good,
  expected: 'ü'.repeat(length),
  finding: reason ? failed(reason, '»'.repeat(length)) : held('»'.repeat(length), 'ü'.repeat(length)),
});

for (const count of [1, 2, 5, 20, 200])
  for (const length of [1, 100, 5000])
    test(`${count} checks of ${length} characters stay below what the kubelet keeps`, () => {
      const results = Array.from({ length: count }, (_, at) =>
        long(at % 2 ? undefined : 'gateway-silent', length),
      );
      const text = terminationMessage(reportOn(results));
      assert.ok(Buffer.byteLength(text) <= mostBytes, `${Buffer.byteLength(text)} bytes`);
      const { verdict, code, checks } = parse(text);
      assert.deepEqual({ verdict, code }, { verdict: 'failed', code: 95 });
      assert.equal(checks[0]?.reason, 'gateway-silent');
    });

test('what held is shortened before what failed', () => {
  const [first, second] = parse(
    terminationMessage(reportOn([long(undefined, 300), bad('port-taken')])),
  ).checks;
  assert.equal(first?.expected, undefined);
  assert.ok(second?.expected);
  assert.ok(second?.seen);
});

test('a long problem is cut', () => {
  const text = terminationMessage(
    reportOn([], { verdict: 'wrong-usage', code: 64, problem: 'x'.repeat(9000) }),
  );
  assert.ok(Buffer.byteLength(text) <= mostBytes);
});
