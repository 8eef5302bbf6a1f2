import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { applyStep, type IssueOptions } from '../../../certs/apply.ts';
import { type Observation, patience, planStep, type Step } from '../../../certs/plan.ts';
import { bundleOf, readSecret, type State, secretData } from '../../../certs/state.ts';
import type { TrustObservation } from '../../../certs/trust.ts';

const hour = 3_600_000;
const day = 24 * hour;
const began = new Date('2030-01-01T00:00:00Z');
const later = (ms: number): Date => new Date(began.getTime() + ms);

function done(step: Step, more: Partial<IssueOptions> = {}): State {
  const state = applyStep(step, { authorityDays: 365, leafDays: 7, now: began, ...more });
  assert.ok(state);
  return state;
}

const [first, other] = [done({ do: 'create' }), done({ do: 'create' })];

/** One configuration that trusts what a state, or nobody, says. */
function trusting(...states: State[]): TrustObservation {
  const bundles = [states.length > 0 ? states.map(bundleOf).join('') : undefined];
  return { configurations: [{ name: 'mutating/x', version: '1', bundles }], complete: true };
}

/** The plan for a Secret that holds a state, of a replica that knows nothing else. */
function plan(state: State | undefined, more: Partial<Observation> = {}) {
  return planStep({
    reading: state && readSecret(secretData(state)),
    remembered: undefined,
    trust: state ? trusting(state) : trusting(),
    now: later(hour),
    trustedFor: undefined,
    waitedFor: 0,
    overlap: 1000,
    ...more,
  });
}

const step = (...args: Parameters<typeof plan>): Step['do'] => plan(...args).step.do;

suite('by the calendar', () => {
  test('nothing is done before its time', () => {
    assert.equal(step(first), 'none');
    assert.equal(step(first, { now: later(4 * day) }), 'none');
  });

  test('the next authority is begun at two thirds of the life of the one that signs', () => {
    assert.equal(step(first, { now: later(243 * day) }), 'none');
    assert.equal(step(first, { now: later(244 * day) }), 'begin');
    const begun = done({ do: 'begin', state: first }, { now: later(244 * day) });
    assert.equal(step(begun, { now: later(245 * day) }), 'none');
  });

  test('the next authority signs once it was trusted for the overlap, and not before', () => {
    const begun = done({ do: 'begin', state: first });
    assert.ok(bundleOf(begun).includes(begun.next?.certificate ?? 'none'), 'it is to be trusted from now on');
    assert.equal(step(begun, { trustedFor: 999 }), 'none');
    const { step: promote } = plan(begun, { trustedFor: 1000 });
    assert.equal(promote.do, 'promote');
    const promoted = done(promote, { now: later(day) });
    assert.equal(promoted.authority.certificate, begun.next?.certificate);
    assert.deepEqual(
      promoted.previous?.authorities.map(({ certificate }) => certificate),
      [first.authority.certificate],
    );
    assert.ok(
      !JSON.stringify(secretData(promoted)).includes(JSON.stringify(first.authority.key).slice(1, -1)),
    );
  });

  test('the previous authority is dropped when everything that it can have signed has expired', () => {
    const promoted = done({ do: 'promote', state: done({ do: 'begin', state: first }) }, { now: later(day) });
    assert.equal(promoted.previous?.until.getTime(), later(15 * day).getTime());
    assert.equal(step(promoted, { now: later(15 * day) }), 'none');
    assert.equal(step(promoted, { now: later(15 * day + 1) }), 'drop');
  });
});

suite('what is known beats what is found', () => {
  test('a Secret that is gone is written back, where the caBundles come from what is known, or nobody is trusted', () => {
    for (const trust of [trusting(first), trusting()]) {
      const { step, faults } = plan(undefined, { remembered: first, trust });
      assert.deepEqual(step, { do: 'restore', state: first });
      assert.deepEqual(
        faults.map(({ reason }) => reason),
        ['missing'],
      );
    }
  });

  test('where the caBundles trust somebody else, another replica is waited for, then what is known is written', () => {
    const more = { remembered: first, trust: trusting(first, other) };
    assert.equal(step(undefined, more), 'wait');
    assert.equal(step(undefined, { ...more, waitedFor: patience }), 'restore');
  });

  test('a replica that knows nothing makes an authority at once where nobody is trusted, and waits where somebody is', () => {
    assert.equal(step(undefined), 'create');
    assert.equal(step(undefined, { trust: trusting(first) }), 'wait');
    assert.equal(step(undefined, { trust: trusting(first), waitedFor: patience }), 'create');
    assert.equal(
      step(undefined, { trust: trusting(first), now: later(400 * day) }),
      'create',
      'all have expired',
    );
  });

  test('no Secret is a fault, unless nothing was made yet: a first start', () => {
    const reasons = (more: Partial<Observation> = {}): string[] =>
      plan(undefined, more).faults.map(({ reason }) => reason);
    assert.deepEqual(reasons(), []);
    for (const more of [
      { remembered: first },
      { trust: trusting(first) },
      { trust: trusting(first), waitedFor: patience },
      { trust: trusting(first), now: later(400 * day) },
      { trust: { ...trusting(), complete: false } },
    ]) {
      assert.deepEqual(reasons(more), ['missing']);
    }
  });

  test('a Secret with an authority that does not follow the one that is trusted is put back', () => {
    const seen = plan(other, { remembered: first, trust: trusting(first) });
    assert.deepEqual(seen.step, { do: 'restore', state: first });
    assert.deepEqual(
      seen.faults.map(({ reason }) => reason),
      ['rolled-back'],
    );
  });

  test('it is taken where it is the one that is trusted, or where it says that it followed', () => {
    assert.equal(step(other, { remembered: first, trust: trusting(other) }), 'none');
    const begun = done({ do: 'begin', state: first });
    const promoted = done({ do: 'promote', state: begun });
    assert.equal(step(promoted, { remembered: begun, trust: trusting(begun) }), 'none');
  });

  test('it is not put back by who remembers an authority that the others may have dropped', () => {
    const begun = done({ do: 'begin', state: first });
    const promoted = done({ do: 'promote', state: begun });
    const dropped = done({ do: 'drop', state: promoted });
    const stale = { trust: trusting(first) };
    assert.equal(step(dropped, { ...stale, remembered: first }), 'restore', 'its leaf is valid');
    assert.equal(step(dropped, stale), 'wait', 'frozen since it read the caBundles');
  });

  test('a replica that knows nothing waits before it believes an authority that nobody trusts', () => {
    assert.equal(step(other, { trust: trusting(first) }), 'wait');
    assert.equal(step(other, { trust: trusting(first), waitedFor: patience }), 'none');
    assert.equal(step(other, { trust: trusting() }), 'none');
  });

  test('nor does it serve by one that is not trusted yet, beside those that are', () => {
    const promoted = done({ do: 'promote', state: done({ do: 'begin', state: first }) });
    assert.equal(step(promoted, { trust: trusting(first) }), 'wait');
    assert.equal(step(promoted, { trust: trusting(first), waitedFor: patience }), 'none');
  });

  test('it waits as well where something is wrong beside that authority', () => {
    const wrong = { reading: readSecret({ ...secretData(other), 'ca.crt': '' }) };
    assert.equal(step(other, { ...wrong, trust: trusting(first) }), 'wait');
    assert.equal(step(other, { ...wrong, trust: trusting(first), waitedFor: patience }), 'rewrite');
    for (const trust of [trusting(), trusting(other)])
      assert.equal(step(other, { ...wrong, trust }), 'rewrite');
  });

  test('it waits before it believes an older copy, whose authority is still trusted beside the one that followed', () => {
    const begun = done({ do: 'begin', state: first });
    const promoted = done({ do: 'promote', state: begun });
    const now = { trust: trusting(promoted) };
    assert.equal(step(promoted, now), 'none');
    assert.equal(step(begun, now), 'none', 'nobody is trusted whom it does not know');
    assert.equal(step(first, now), 'wait');
    assert.equal(step(first, { ...now, waitedFor: patience }), 'none');
    assert.equal(step(first, { ...now, remembered: first }), 'none', 'the caBundles are what is wrong');
  });

  test('so it does before an older copy goes on to its next authority', () => {
    const begun = done({ do: 'begin', state: first }, { now: later(300 * day) });
    const promoted = done({ do: 'promote', state: begun }, { now: later(310 * day) });
    const further = done({ do: 'begin', state: promoted }, { now: later(320 * day) });
    const expired = { now: later(400 * day), trust: trusting(further) };
    assert.equal(step(begun, expired), 'wait');
    assert.equal(step(begun, { ...expired, waitedFor: patience }), 'promote');
  });
});

suite('what is damaged', () => {
  const damaged = (data: Record<string, string>, more: Partial<Observation> = {}) =>
    plan(first, { reading: readSecret({ ...secretData(first), ...data }), ...more });

  test('an authority that cannot be used is created anew where nobody is trusted, after the wait where somebody is', () => {
    for (const data of [{ 'tls.crt': '' }, { 'tls.key': other.authority.key }]) {
      const seen = damaged(data, { trust: trusting() });
      assert.equal(seen.step.do, 'create');
      assert.ok(seen.faults.some(({ part }) => part === 'authority'));
      assert.equal(damaged(data).step.do, 'wait');
      assert.equal(damaged(data, { waitedFor: patience }).step.do, 'create');
    }
  });

  test('it is written back where it is known', () => {
    assert.deepEqual(damaged({ 'tls.crt': '' }, { remembered: first }).step, { do: 'restore', state: first });
  });

  test('what is known and has expired is not written back', () => {
    const late = { remembered: first, now: later(400 * day) };
    assert.equal(damaged({ 'tls.crt': '' }, late).step.do, 'create');
  });

  test('a next or previous authority that cannot be used is taken out', () => {
    assert.equal(damaged({ 'next.crt': 'x', 'next.key': 'y' }).step.do, 'rewrite');
    assert.equal(damaged({ 'previous.crt': 'x', 'previous-until': 'y' }).step.do, 'rewrite');
    assert.equal(damaged({ 'ca.crt': '' }).step.do, 'rewrite');
  });

  test('an authority that has expired makes way for the next one at once where that is trusted', () => {
    const begun = done({ do: 'begin', state: first }, { now: later(300 * day) });
    assert.equal(step(begun, { now: later(400 * day) }), 'promote');
    assert.equal(step(begun, { now: later(400 * day), trust: trusting() }), 'promote', 'nobody is trusted');
  });
});
