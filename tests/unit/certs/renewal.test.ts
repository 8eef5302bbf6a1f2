import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renewalDue } from '../../../certs/period.ts';

const notBefore = new Date('2030-01-01T00:00:00Z');
const notAfter = new Date('2030-04-01T00:00:00Z');
const due = (now: string) => renewalDue({ notBefore, notAfter }, new Date(now));

test('renewal is due from two thirds of the life on, to the millisecond', () => {
  assert.equal(due('2030-03-01T23:59:59.999Z'), false);
  assert.equal(due('2030-03-02T00:00:00.000Z'), true);
});

test('renewal is due after the end, and not before the beginning', () => {
  assert.equal(due('2031-01-01T00:00:00Z'), true);
  assert.equal(due('2029-12-31T00:00:00Z'), false);
});

test('a life that three does not divide is not rounded up', () => {
  const at = (ms: number) => new Date(ms);
  assert.equal(renewalDue({ notBefore: at(0), notAfter: at(10) }, at(6)), false);
  assert.equal(renewalDue({ notBefore: at(0), notAfter: at(10) }, at(7)), true);
});
