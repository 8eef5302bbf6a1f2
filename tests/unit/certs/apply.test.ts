import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyStep, type IssueOptions } from '../../../certs/apply.ts';
import type { Step } from '../../../certs/plan.ts';
import { bundleOf, readSecret, type State, secretData } from '../../../certs/state.ts';
import { trustedBy } from '../../../certs/trust.ts';

const day = 86_400_000;
const began = new Date('2030-01-01T00:00:00Z');
const later = (days: number): Date => new Date(began.getTime() + days * day);

function done(step: Step, more: Partial<IssueOptions> = {}): State {
  const state = applyStep(step, { authorityDays: 365, leafDays: 7, now: began, ...more });
  assert.ok(state);
  return state;
}

/** A rotation from begin to promote, at one time. */
function rotated(state: State, now: Date, more: Partial<IssueOptions> = {}): State {
  const begun = done({ do: 'begin', state }, { now, ...more });
  return done({ do: 'promote', state: begun }, { now, ...more });
}

test('a second rotation that follows at once keeps both earlier authorities trusted', () => {
  const first = done({ do: 'create' });
  const second = rotated(first, later(1));
  const third = rotated(second, later(2));
  const certificates = [third, second, first].map(({ authority }) => authority.certificate);
  assert.equal(bundleOf(third), certificates.join(''));
  const fingerprints = [third, second, first].map(({ authority }) => authority.fingerprint);
  assert.deepEqual(trustedBy(third), new Set(fingerprints), 'and is known to be');
  assert.deepEqual(readSecret(secretData(third)).previous, third.previous, 'also by who reads the Secret');
});

test('the key of a retired authority is not stored', () => {
  const first = done({ do: 'create' });
  const stored = JSON.stringify(secretData(rotated(first, later(1))));
  assert.ok(!stored.includes(JSON.stringify(first.authority.key).slice(1, -1)));
});

test('retired authorities are trusted for two lives of a serving certificate, the longest life counts', () => {
  const second = rotated(done({ do: 'create' }), later(1), { leafDays: 90 });
  assert.deepEqual(second.previous?.until, later(181));
  const third = rotated(second, later(2));
  assert.deepEqual(third.previous?.until, later(181), 'not by the leaf of the second alone');
});

test('nobody is trusted beyond the end of the authority that signed', () => {
  const first = done({ do: 'create' }, { authorityDays: 10 });
  const second = rotated(first, later(8));
  assert.deepEqual(second.previous?.until, first.authority.notAfter);
});

test('a state that is written back trusts its retired authorities anew: somebody may have signed by an older copy', () => {
  const second = rotated(done({ do: 'create' }), later(1));
  const restored = done({ do: 'restore', state: second }, { now: later(10) });
  assert.deepEqual(restored, { ...second, previous: { ...second.previous, until: later(24) } });
});
