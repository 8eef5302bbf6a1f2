import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { fitText } from '../../../validator/shared/fit-text.ts';
import { fitWarnings, respond } from '../../../webhook/admission/respond.ts';
import { toAgentFacts } from '../../../webhook/core/facts/node.ts';
import { readStatus } from '../../../webhook/core/facts/status-annotation.ts';
import { refusalText } from '../../../webhook/core/networks/refusal.ts';
import { clean, quoted } from '../../../webhook/lib/clean.ts';
import { listItems, texts } from '../../../webhook/lib/limits.ts';
import { statusAnnotation } from '../../../webhook/lib/names.ts';
import { quantity } from '../../../webhook/lib/quantity.ts';
import { apiAgent } from '../core/networks/objects.ts';

const long = 'x'.repeat(700_000);
const bidirectional = '\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c';

const refused = (message: string, warnings: string[] = []) =>
  respond('u', { outcome: 'refused', reason: 'x', profiles: [], operations: [], warnings, message }).response;

suite('texts from others', () => {
  test('characters that reorder text are replaced, and letters of any script stay', () => {
    for (const control of bidirectional) assert.equal(clean(`a${control}b`), 'a\u{fffd}b');
    assert.equal(
      clean('שלום, مرحبا, 你好 é\u200d'),
      'שלום, مرحبا, 你好 é\u200d',
      'letters of any script stay',
    );
  });

  test('escape sequences with one or two introducing characters, ended by BEL, ST or C1 ST, are removed', () => {
    assert.equal(clean('a\u001b]0;title\u0007b\u001b]8;;x\u001b\\c\u009d1\u009cd\u009b1;31me'), 'abcde');
    assert.equal(clean('\u001b]0;no end'), '\u{fffd}]0;no end');
  });

  test('what is quoted is cut, cleaned, and keeps its code', () => {
    assert.equal(quoted('CrashLoopBackOff'), 'CrashLoopBackOff');
    assert.equal([...quoted(long)].length, texts.quoted);
    assert.match(quoted(long), /…$/);
    assert.match(
      quoted(`${'\u001b[31m'.repeat(400)} and more`),
      /…$/,
      'a text that was only partly read ends with an ellipsis',
    );
    assert.doesNotMatch(quoted(`a\u202e${long}`), /\u202e/);
    assert.ok(quoted('\u{1f600}'.repeat(1000)).isWellFormed());
    assert.ok(
      fitText(`a (CNI_GATE_${'A'.repeat(100_000)})`, 900).length <= 900,
      'the length of a code is limited',
    );
  });

  test('a reason of 700 KB from a kubelet is a refusal of a few lines', () => {
    const { reason } = toAgentFacts(apiAgent('n1', { ready: false, waiting: `${long}\u202e` }));
    assert.ok([...reason].length <= texts.quoted);
    const daemonSet = { namespace: 'net', name: 'agent' };
    const message = refusalText({ node: 'n1', profile: 'mesh', daemonSet, state: 'broken', reason });
    assert.ok(message.length < 700);
    const reported = refused(message).status?.message ?? '';
    assert.ok(Buffer.byteLength(reported) <= 900);
    assert.match(reported, /\(CNI_GATE_NODE_NOT_READY node=n1 profile=mesh state=broken\)$/);
  });

  test('the number and length of the container IDs from a kubelet are limited', () => {
    const containers = Array.from({ length: 10_000 }, (_, index) => `c${index}`);
    assert.equal(toAgentFacts(apiAgent('n1', { containers })).containers.length, listItems);
    assert.deepEqual(toAgentFacts(apiAgent('n1', { containers: [long, 'c1'] })).containers, ['c1']);
  });

  test('a message and warnings are shown without characters that control a terminal or reorder text', () => {
    const message = 'profile "\u202eabc\u001b[31m" does not exist (CNI_GATE_PROFILE_UNKNOWN)';
    const response = refused(message, ['a\u202eb']);
    assert.equal(response.status?.message, 'profile "\u{fffd}abc" does not exist (CNI_GATE_PROFILE_UNKNOWN)');
    assert.deepEqual(response.warnings, ['a\u{fffd}b']);
    assert.match(fitWarnings([`a${' '.repeat(100_000)}b`])[0] ?? '', /^a …$/);
  });

  test('texts that are too long to be valid are not read: statuses and quantities', () => {
    const status = (profile: string) => ({
      metadata: { annotations: { [statusAnnotation]: JSON.stringify({ profiles: [profile] }) } },
    });
    assert.deepEqual(readStatus(status('mesh')), { profiles: ['mesh'] });
    assert.equal(readStatus(status('x'.repeat(texts.annotation))), undefined);
    assert.equal(quantity(`${'0'.repeat(texts.quantity - 1)}1`), 1);
    assert.equal(quantity('1'.repeat(texts.quantity + 1)), Number.NaN);
  });
});
