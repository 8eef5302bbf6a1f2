import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { issueServing } from '../../../certs/issue.ts';
import {
  bundleFault,
  bundleOf,
  measureTrust,
  newAuthority,
  type Observation,
  type Plan,
  planStep,
  readSecret,
  type State,
  secretData,
} from '../../../certs/rotation.ts';

const day = 86_400_000;
const began = new Date('2030-01-01T00:00:00Z');
const later = (days: number): Date => new Date(began.getTime() + days * day);

const created = (): State => ({ authority: newAuthority(365, began) });
const begunAt = (state: State, now: Date): State => ({ ...state, next: newAuthority(365, now) });
const [first, other] = [created(), created()];

/** The state after a complete rotation, whose steps `begin` and `promote` both happen at `now`. */
const rotated = (state: State, now: Date): State =>
  plan(begunAt(state, now), { now, trustedFor: 1000 }).state;

/** The plan for a Secret with this state, made by a replica that has no remembered state. */
function plan(state: State | undefined, more: Partial<Observation> = {}) {
  return planStep({
    reading: readSecret(state && secretData(state), more.now ?? later(0.1)),
    remembered: undefined,
    now: later(0.1),
    trustedFor: undefined,
    overlap: 1000,
    ...more,
  });
}

const step = (...args: Parameters<typeof plan>): Plan['step'] => plan(...args).step;
const reason = (...args: Parameters<typeof plan>) => plan(...args).fault?.reason;

suite('rotation as time passes', () => {
  test('the next authority begins at two thirds of the life of the one that signs', () => {
    assert.equal(step(first), 'none');
    assert.equal(step(first, { now: later(243) }), 'none');
    assert.equal(step(first, { now: later(244) }), 'begin');
    const begun = plan(first, { now: later(244) }).state;
    assert.equal(step(begun, { now: later(245) }), 'none');
    assert.deepEqual(begun.next?.notAfter, later(244 + 365));
  });

  test('the next authority signs only after it has been trusted for the overlap', () => {
    const begun = begunAt(first, began);
    assert.ok(bundleOf(begun).includes(begun.next?.certificate ?? 'none'), 'trusted from now on');
    assert.equal(step(begun, { trustedFor: 999 }), 'none');
    assert.equal(step(begun, { trustedFor: 1000 }), 'promote');
    const promoted = plan(begun, { trustedFor: 1000 }).state;
    assert.equal(promoted.authority.certificate, begun.next?.certificate);
    assert.equal(bundleOf(promoted), `${begun.next?.certificate}${first.authority.certificate}`);
    const stored = JSON.stringify(secretData(promoted));
    assert.ok(!stored.includes(JSON.stringify(first.authority.key).slice(1, -1)), 'its key is deleted');
  });

  test('a next authority that is not valid yet does not sign', () => {
    assert.equal(step(begunAt(first, later(100)), { trustedFor: 1000 }), 'none');
  });

  test('previous authorities are trusted until they expire, even after a second rotation', () => {
    const second = rotated(first, later(1));
    assert.ok(
      bundleOf(begunAt(second, later(200))).endsWith(first.authority.certificate),
      'from its begin on',
    );
    const third = rotated(second, later(200));
    assert.equal(
      bundleOf(third),
      [third, second, first].map(({ authority }) => authority.certificate).join(''),
    );
    assert.deepEqual(readSecret(secretData(third), later(200)), { state: { ...third, next: undefined } });
    assert.equal(step(third, { now: later(365) }), 'none');
    assert.equal(step(third, { now: later(365.1) }), 'drop');
    const dropped = plan(third, { now: later(365.1) }).state;
    assert.equal(bundleOf(dropped), bundleOf({ ...third, previous: third.previous?.slice(0, 1) }));
    assert.deepEqual(plan(third, { now: later(367) }).state.previous, []);
  });
});

suite('what a replica remembers', () => {
  test('is restored if the Secret is deleted; without memory, a new authority is created, which is no fault', () => {
    assert.equal(step(undefined, { remembered: first }), 'restore');
    assert.equal(reason(undefined, { remembered: first }), 'missing');
    assert.equal(step(undefined), 'create');
    assert.equal(reason(undefined), undefined);
    assert.deepEqual(
      [step(first, { now: later(366) }), reason(first, { now: later(366) })],
      ['create', 'expired'],
    );
  });
});

suite('a damaged Secret', () => {
  test('in any part is repaired as a whole', () => {
    for (const data of [
      { 'next.crt': 'x', 'next.key': 'y' },
      { 'previous.crt': 'x' },
      { 'ca.crt': bundleOf(other) },
      { 'tls.crt': '' },
      { 'tls.key': other.authority.key },
    ]) {
      const reading = readSecret({ ...secretData(first), ...data }, began);
      const more = { reading, remembered: first };
      assert.deepEqual([step(first, more), reason(first, more)], ['restore', 'damaged']);
    }
    assert.equal(readSecret({ 'tls.crt': '\n' }, began).fault?.reason, 'empty');
  });
});

test('the time of trust counts from the first observation in which every caBundle has the authority', () => {
  const { fingerprint, certificate } = first.authority;
  const having = (bundle: string) => ({ bundles: [bundle] });
  const begin = measureTrust(undefined, fingerprint, [having(certificate)], 100);
  const both = certificate + other.authority.certificate;
  for (const [authority, configurations, since] of [
    [fingerprint, [having(certificate)], 100],
    [other.authority.fingerprint, [having(both)], 200],
    [fingerprint, [having('')], undefined],
    [fingerprint, [having(certificate), having('')], undefined],
    [undefined, [having(certificate)], undefined],
    [undefined, [], undefined],
  ] as const)
    assert.equal(measureTrust(begin, authority, configurations, 200)?.since, since);
});

test('each fault of a caBundle has a name; its order does not matter', () => {
  const [one, two] = [first, other].map(({ authority }) => authority.certificate) as [string, string];
  const { certificate } = issueServing(first.authority, { names: ['x.svc'], days: 1, now: began });
  assert.equal(bundleFault(one + two, two + one), undefined);
  for (const [bundle, reason] of [
    ['', 'empty'],
    [' \n', 'empty'],
    ['garbage', 'damaged'],
    [certificate, 'damaged'],
    [two, 'foreign'],
    [one + two, 'foreign'],
  ] as const)
    assert.equal(bundleFault(bundle, one), reason);
  assert.equal(bundleFault(one, one + two), 'damaged');
});
