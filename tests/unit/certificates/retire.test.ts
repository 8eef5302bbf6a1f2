import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { carryOut, type Making } from '../../../certs/managed/carry-out.ts';
import type { Step } from '../../../certs/managed/plan.ts';
import { type ReadState, readSecret } from '../../../certs/managed/reading.ts';
import { secretData } from '../../../certs/managed/secret.ts';
import { bundleOf } from '../../../certs/managed/state.ts';
import { trustedBy } from '../../../certs/managed/trust.ts';
import { keyRing } from '../../support/certificates/keys.ts';

const day = 86_400_000;
const began = new Date('2030-01-01T00:00:00Z');
const later = (days: number): Date => new Date(began.getTime() + days * day);

let making: Making;
before(async () => {
  making = { authorityDays: 365, leafDays: 7, names: ['x.svc'], now: began, keys: await keyRing() };
});

async function done(step: Step, more: Partial<Making> = {}): Promise<ReadState> {
  const state = await carryOut(step, { ...making, ...more });
  assert.ok(state);
  return state;
}

/** A rotation from begin to promote, at one time. */
async function rotated(state: ReadState, now: Date, more: Partial<Making> = {}): Promise<ReadState> {
  const begun = await done({ do: 'begin', state }, { now, ...more });
  return done({ do: 'promote', state: begun }, { now, ...more });
}

test('a rotation that follows at once forgets nobody: who signed two rotations ago is trusted as well', async () => {
  const first = await done({ do: 'create' });
  const second = await rotated(first, later(1));
  const third = await rotated(second, later(2));
  const certificates = [third, second, first].map(({ authority }) => authority.certificate);
  assert.equal(bundleOf(third), certificates.join(''));
  const fingerprints = [third, second, first].map(({ authority }) => authority.facts.fingerprint);
  assert.deepEqual(trustedBy(third), new Set(fingerprints), 'and is known to be');
  assert.deepEqual(readSecret(secretData(third)).previous, third.previous, 'also by who reads the Secret');
});

test('all of them are trusted until the last leaf of any has expired', async () => {
  const long = await done({ do: 'create' }, { leafDays: 90 });
  const second = await rotated(long, later(1));
  assert.deepEqual(second.previous?.until, long.leaf.facts.notAfter);
  const third = await rotated(second, later(2));
  assert.deepEqual(third.previous?.until, long.leaf.facts.notAfter, 'not by the leaf of the second alone');
});

test('nobody is trusted beyond the end of the authority that signed', async () => {
  const first = await done({ do: 'create' }, { authorityDays: 10 });
  const second = await rotated(first, later(8));
  assert.deepEqual(second.previous?.until, first.authority.facts.notAfter);
});
