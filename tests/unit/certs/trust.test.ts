import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newAuthority } from '../../../certs/apply.ts';
import { issueServing } from '../../../certs/issue.ts';
import { bundleFault, measureTrust, type TrustObservation } from '../../../certs/trust.ts';

const now = new Date();
const [state, other] = [{ authority: newAuthority(2, now) }, { authority: newAuthority(2, now) }];

const observed = (bundle: string | undefined, version = '1', complete = true): TrustObservation => ({
  configurations: [{ name: 'mutating/x', version, bundles: [bundle] }],
  complete,
});

test('the time of trust counts from the first observation where everybody trusts, to the next where somebody does not', () => {
  const { fingerprint } = state.authority;
  const bundle = state.authority.certificate;
  const first = measureTrust(undefined, fingerprint, observed(bundle), 100);
  assert.equal(first?.since, 100);
  assert.equal(measureTrust(first, fingerprint, observed(bundle), 200)?.since, 100);
  assert.equal(measureTrust(first, fingerprint, observed(undefined), 200), undefined);
  assert.equal(measureTrust(first, fingerprint, observed(other.authority.certificate), 200), undefined);
  assert.equal(measureTrust(first, undefined, observed(bundle), 200), undefined);
});

test('it begins anew for another authority, for a configuration that was changed, and where one could not be read', () => {
  const { fingerprint } = state.authority;
  const bundle = state.authority.certificate + other.authority.certificate;
  const first = measureTrust(undefined, fingerprint, observed(bundle), 100);
  assert.equal(measureTrust(first, other.authority.fingerprint, observed(bundle), 200)?.since, 200);
  assert.equal(measureTrust(first, fingerprint, observed(bundle, '2'), 200)?.since, 200);
  assert.equal(measureTrust(first, fingerprint, observed(bundle, '1', false), 200), undefined);
});

test('where no configuration exists there is nobody to be trusted by', () => {
  const none = { configurations: [], complete: true };
  assert.equal(measureTrust(undefined, state.authority.fingerprint, none, 5)?.since, 5);
});

test('what is wrong with a caBundle has a name; the order in it is nobody’s concern', () => {
  const [one, two] = [state.authority.certificate, other.authority.certificate];
  assert.equal(bundleFault(one + two, two + one), undefined);
  assert.equal(bundleFault(undefined, one), 'empty');
  assert.equal(bundleFault(' \n', one), 'empty');
  assert.equal(bundleFault('garbage', one), 'unreadable');
  assert.equal(
    bundleFault(issueServing(state.authority, { names: ['x.svc'], days: 1, now }).certificate, one),
    'unreadable',
  );
  assert.equal(bundleFault(two, one), 'foreign');
  assert.equal(bundleFault(one + two, one), 'foreign');
  assert.equal(bundleFault(one, one + two), 'inconsistent');
});
