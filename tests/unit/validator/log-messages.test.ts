import assert from 'node:assert/strict';
import { test } from 'node:test';
import { passed } from '../../../validator/finding.ts';
import { sentenceOn, verdictSentence } from '../../../validator/log-messages.ts';
import { exitCodeFor } from '../../../validator/verdict.ts';
import { bad, good, redirectResult, reportOn } from './fixtures.ts';

test('a check that passed: the line says what was expected and seen', () => {
  assert.equal(
    sentenceOn(good),
    'linkerd: redirect IPv4 passed: expected a connection to 192.0.2.2:1404 to come back to port 4140 by the ' +
      'outbound rule; saw its own token come back from 192.0.2.2:1404.',
  );
});

test('a check that passed with a note: the line has the note', () => {
  assert.match(
    sentenceOn(redirectResult(passed('nothing', 'there was none'))),
    /saw nothing\. Note: there was none\.$/,
  );
});

test('a check that failed: the line says what to check', () => {
  assert.match(
    sentenceOn(bad('not-redirected')),
    /^linkerd: redirect IPv4 failed \(not-redirected\): expected .+; saw no answer from 192\.0\.2\.2:1404\. Check /,
  );
});

test('a check of the whole pod names no family', () => {
  const { family: _, ...whole } = bad('interface-missing');
  assert.match(sentenceOn({ ...whole, check: 'interfaces' }), /^linkerd: interfaces failed/);
});

test('the last line is the verdict', () => {
  assert.equal(verdictSentence(reportOn([good])), 'verdict: proved (0) after 10.020 s.');
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
    'verdict: proved (0) after 10.020 s, with a note on linkerd redirect IPv4.',
  );
  assert.equal(
    verdictSentence(reportOn([noted, bad('no-route')])),
    'verdict: unproved (69) after 10.020 s: linkerd redirect IPv4 no-route.',
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
