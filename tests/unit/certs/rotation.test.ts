import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { issueServing } from '../../../certs/issue.ts';
import {
  applyStep,
  type IssueOptions,
  measureTrust,
  type Observation,
  planStep,
  type Step,
} from '../../../certs/rotation.ts';
import { bundleFault, bundleOf, readSecret, type State, secretData } from '../../../certs/state.ts';
import { CniGateError } from '../../../webhook/lib/errors.ts';

const day = 86_400_000;
const began = new Date('2030-01-01T00:00:00Z');
const later = (days: number): Date => new Date(began.getTime() + days * day);

const apply = (step: Step, more: Partial<IssueOptions> = {}): State =>
  applyStep(step, { authorityDays: 365, leafDays: 7, now: began, ...more });

/** A rotation from begin to promote, at one time. */
function rotated(state: State, now: Date, more: Partial<IssueOptions> = {}): State {
  const begun = apply({ do: 'begin', state }, { now, ...more });
  return apply({ do: 'promote', state: begun }, { now, ...more });
}

const [first, other] = [apply({ do: 'create' }), apply({ do: 'create' })];

/** One configuration that trusts these states. */
const trusting = (...states: State[]): Observation['configurations'] => [
  { bundles: [states.length > 0 ? states.map(bundleOf).join('') : undefined] },
];

/** The plan for a Secret that contains a state, of a replica that knows nothing else. */
function plan(state: State | undefined, more: Partial<Observation> = {}) {
  return planStep({
    reading: state && readSecret(secretData(state)),
    remembered: undefined,
    configurations: state ? trusting(state) : trusting(),
    now: later(0.1),
    trustedFor: undefined,
    overlap: 1000,
    ...more,
  });
}

const step = (...args: Parameters<typeof plan>): Step['do'] => plan(...args).step.do;
const reasons = (...args: Parameters<typeof plan>): string[] =>
  plan(...args).faults.map(({ reason }) => reason);

suite('by the calendar', () => {
  test('the next authority begins at two thirds of the life of the one that signs', () => {
    assert.equal(step(first), 'none');
    assert.equal(step(first, { now: later(243) }), 'none');
    assert.equal(step(first, { now: later(244) }), 'begin');
    const begun = apply({ do: 'begin', state: first }, { now: later(244) });
    assert.equal(step(begun, { now: later(245) }), 'none');
  });

  test('the next authority signs once it was trusted for the overlap, and not before', () => {
    const begun = apply({ do: 'begin', state: first });
    assert.ok(bundleOf(begun).includes(begun.next?.certificate ?? 'none'), 'trusted from now on');
    assert.equal(step(begun, { trustedFor: 999 }), 'none');
    assert.equal(step(begun, { trustedFor: 1000 }), 'promote');
    const promoted = apply({ do: 'promote', state: begun }, { now: later(1) });
    assert.equal(promoted.authority.certificate, begun.next?.certificate);
    assert.equal(bundleOf(promoted), `${begun.next?.certificate}${first.authority.certificate}`);
    const stored = JSON.stringify(secretData(promoted));
    assert.ok(!stored.includes(JSON.stringify(first.authority.key).slice(1, -1)), 'its key is deleted');
  });

  test('the previous authority is dropped when everything that it can have signed has expired', () => {
    const promoted = rotated(first, later(1));
    assert.deepEqual(promoted.previous?.until, later(15));
    assert.equal(step(promoted, { now: later(15) }), 'none');
    assert.equal(step(promoted, { now: later(15.1) }), 'drop');
    assert.equal(bundleOf(apply({ do: 'drop', state: promoted })), promoted.authority.certificate);
  });

  test('a second rotation that follows at once keeps both, for the longest life, but not beyond their own end', () => {
    const second = rotated(first, later(1), { leafDays: 90 });
    const third = rotated(second, later(2));
    assert.equal(
      bundleOf(third),
      [third, second, first].map(({ authority }) => authority.certificate).join(''),
    );
    assert.deepEqual(third.previous?.until, later(181));
    assert.deepEqual(readSecret(secretData(third)).previous, third.previous);
    const short = apply({ do: 'create' }, { authorityDays: 10 });
    assert.deepEqual(rotated(short, later(8)).previous?.until, short.authority.notAfter);
  });

  test('a state that is restored trusts its previous authorities anew: a replica may have signed by an older copy', () => {
    const second = rotated(first, later(1));
    const restored = apply({ do: 'restore', state: second }, { now: later(10) });
    assert.deepEqual(restored, { ...second, previous: { ...second.previous, until: later(24) } });
  });
});

suite('what a replica remembers', () => {
  test('is written back if the Secret is deleted; without memory there is a new authority, and no fault', () => {
    assert.deepEqual(plan(undefined, { remembered: first }).step, { do: 'restore', state: first });
    assert.deepEqual(reasons(undefined, { remembered: first }), ['missing']);
    assert.equal(step(undefined), 'create');
    assert.deepEqual(reasons(undefined), []);
  });

  test('is written back over an authority that does not follow, if the caBundles were written from it', () => {
    const more = { remembered: first, configurations: trusting(first) };
    assert.deepEqual(plan(other, more).step, { do: 'restore', state: first });
    assert.deepEqual(reasons(other, more), ['rolled-back']);
    assert.equal(step(other, { ...more, configurations: trusting(other) }), 'none');
    assert.equal(step(other, { ...more, configurations: trusting(first, other) }), 'none');
  });

  test('gives way to what followed it', () => {
    const begun = apply({ do: 'begin', state: first });
    const promoted = apply({ do: 'promote', state: begun });
    assert.equal(step(promoted, { remembered: begun, configurations: trusting(begun) }), 'none');
    assert.equal(step(promoted, { remembered: first, configurations: trusting(begun) }), 'none');
  });

  test('is not written back once it has expired', () => {
    const reading = readSecret({ ...secretData(first), 'tls.crt': '' });
    assert.equal(step(first, { reading, remembered: first }), 'restore');
    assert.equal(step(first, { reading, remembered: first, now: later(400) }), 'create');
  });
});

suite('a damaged Secret', () => {
  const cases: [Record<string, string>, reason: string, step: Step['do']][] = [
    [{ 'tls.crt': '', 'tls.key': '' }, 'unreadable', 'create'],
    [{ 'tls.key': other.authority.key }, 'mismatch', 'create'],
    [{ 'next.crt': 'x', 'next.key': 'y' }, 'unreadable', 'rewrite'],
    [{ 'previous.crt': 'x', 'previous-until': 'y' }, 'unreadable', 'rewrite'],
    [{ 'ca.crt': '' }, 'inconsistent', 'rewrite'],
  ];
  for (const [data, reason, expected] of cases) {
    test(`with ${JSON.stringify(data).slice(0, 60)}: ${reason}, ${expected}`, () => {
      const reading = readSecret({ ...secretData(first), ...data });
      assert.equal(step(first, { reading }), expected);
      assert.deepEqual(reasons(first, { reading }), [reason]);
    });
  }

  test('that is empty is one fault', () => {
    const reading = readSecret({ 'tls.crt': ' ', 'tls.key': '' });
    assert.deepEqual([step(first, { reading }), ...reasons(first, { reading })], ['create', 'empty']);
  });

  test('an expired authority makes way for the next one at once', () => {
    const begun = apply({ do: 'begin', state: first }, { now: later(300) });
    assert.equal(step(begun, { now: later(400) }), 'promote');
    assert.deepEqual(reasons(begun, { now: later(400) }), ['expired']);
    assert.deepEqual(reasons(first, { now: later(-1) }), ['not-yet-valid']);
  });
});

const versioned = (bundle: string | undefined, version = '1', fails = false) => ({
  found: [{ name: 'mutating/x' as const, version, resourceVersion: '1', webhooks: [0], bundles: [bundle] }],
  failed: new Map(fails ? [['validating/x', new CniGateError('CNI_GATE_CLUSTER_BUSY', '')]] : []),
});

test('the time of trust counts from the first observation in which every caBundle has the authority', () => {
  const { fingerprint, certificate } = first.authority;
  const begin = measureTrust(undefined, fingerprint, versioned(certificate), 100);
  const since = (...args: [string | undefined, ReturnType<typeof versioned>]) =>
    measureTrust(begin, ...args, 200)?.since;
  assert.equal(since(fingerprint, versioned(certificate)), 100);
  assert.equal(since(fingerprint, versioned(certificate, '2')), 200, 'the configuration was changed');
  assert.equal(since(other.authority.fingerprint, versioned(certificate + other.authority.certificate)), 200);
  assert.equal(since(fingerprint, versioned(undefined)), undefined);
  assert.equal(since(fingerprint, versioned(certificate, '1', true)), undefined, 'one could not be read');
  assert.equal(since(undefined, versioned(certificate)), undefined);
});

test('what is wrong with a caBundle has a name; its order does not matter', () => {
  const [one, two] = [first, other].map(({ authority }) => authority.certificate) as [string, string];
  const { certificate } = issueServing(first.authority, { names: ['x.svc'], days: 1, now: began });
  assert.equal(bundleFault(one + two, two + one), undefined);
  for (const [bundle, reason] of [
    [undefined, 'empty'],
    [' \n', 'empty'],
    ['garbage', 'unreadable'],
    [certificate, 'unreadable'],
    [two, 'foreign'],
    [one + two, 'foreign'],
  ] as const)
    assert.equal(bundleFault(bundle, one), reason);
  assert.equal(bundleFault(one, one + two), 'inconsistent');
});
