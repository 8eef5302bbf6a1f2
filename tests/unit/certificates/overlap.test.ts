import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { carryOut } from '../../../certs/managed/carry-out.ts';
import { watchTrust } from '../../../certs/managed/overlap.ts';
import type { ReadState } from '../../../certs/managed/reading.ts';
import { bundleFault, type TrustSight } from '../../../certs/managed/trust.ts';

let state: ReadState;
let other: ReadState;
before(async () => {
  const making = { authorityDays: 2, leafDays: 1, names: ['x.svc'], now: new Date() };
  const made = await Promise.all([carryOut({ do: 'create' }, making), carryOut({ do: 'create' }, making)]);
  [state, other] = made as [ReadState, ReadState];
});

const sight = (bundle: string | undefined, version = '1', complete = true): TrustSight => ({
  configurations: [{ name: 'mutating/x', version, bundles: [bundle] }],
  complete,
});

test('the time of trust counts from the first look at which everybody trusts, to the next at which somebody does not', () => {
  const { fingerprint } = state.authority.facts;
  const bundle = state.authority.certificate;
  const first = watchTrust(undefined, fingerprint, sight(bundle), 100);
  assert.equal(first?.since, 100);
  assert.equal(watchTrust(first, fingerprint, sight(bundle), 200)?.since, 100);
  assert.equal(watchTrust(first, fingerprint, sight(undefined), 200), undefined);
  assert.equal(watchTrust(first, fingerprint, sight(other.authority.certificate), 200), undefined);
  assert.equal(watchTrust(first, undefined, sight(bundle), 200), undefined);
});

test('it begins anew for another authority, for a configuration that was changed, and where one could not be read', () => {
  const { fingerprint } = state.authority.facts;
  const bundle = state.authority.certificate + other.authority.certificate;
  const first = watchTrust(undefined, fingerprint, sight(bundle), 100);
  assert.equal(watchTrust(first, other.authority.facts.fingerprint, sight(bundle), 200)?.since, 200);
  assert.equal(watchTrust(first, fingerprint, sight(bundle, '2'), 200)?.since, 200);
  assert.equal(watchTrust(first, fingerprint, sight(bundle, '1', false), 200), undefined);
});

test('where no configuration exists there is nobody to be trusted by', () => {
  const none = { configurations: [], complete: true };
  assert.equal(watchTrust(undefined, state.authority.facts.fingerprint, none, 5)?.since, 5);
});

test('what is wrong with a caBundle has a name; the order in it is nobody’s concern', () => {
  const [one, two] = [state.authority.certificate, other.authority.certificate];
  assert.equal(bundleFault(one + two, two + one), undefined);
  assert.equal(bundleFault(undefined, one), 'empty');
  assert.equal(bundleFault(' \n', one), 'empty');
  assert.equal(bundleFault('garbage', one), 'unreadable');
  assert.equal(bundleFault(state.leaf.certificate, one), 'unreadable');
  assert.equal(bundleFault(two, one), 'foreign');
  assert.equal(bundleFault(one + two, one), 'foreign');
  assert.equal(bundleFault(one, one + two), 'inconsistent');
});
