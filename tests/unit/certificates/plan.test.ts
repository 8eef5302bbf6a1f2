import assert from 'node:assert/strict';
import { before, suite, test } from 'node:test';
import { carryOut, type Making } from '../../../certs/managed/carry-out.ts';
import { patience, planStep, type Sight, type Step } from '../../../certs/managed/plan.ts';
import { type ReadState, readSecret } from '../../../certs/managed/reading.ts';
import { secretData } from '../../../certs/managed/secret.ts';
import { bundleOf } from '../../../certs/managed/state.ts';
import type { TrustSight } from '../../../certs/managed/trust.ts';
import { keyRing } from '../../support/certificates/keys.ts';

const hour = 3_600_000;
const day = 24 * hour;
const began = new Date('2030-01-01T00:00:00Z');
const names = ['cni-gate.cni-gate.svc'];
const later = (ms: number): Date => new Date(began.getTime() + ms);

let making: Making;
let first: ReadState;
let other: ReadState;
before(async () => {
  making = { authorityDays: 365, leafDays: 7, names, now: began, keys: await keyRing() };
  [first, other] = [await done({ do: 'create' }), await done({ do: 'create' })];
});

async function done(step: Step, more: Partial<Making> = {}): Promise<ReadState> {
  const state = await carryOut(step, { ...making, ...more });
  assert.ok(state);
  return state;
}

/** One configuration that trusts what a state, or nobody, says. */
function trusting(...states: ReadState[]): TrustSight {
  const bundles = [states.length > 0 ? states.map(bundleOf).join('') : undefined];
  return { configurations: [{ name: 'mutating/x', version: '1', bundles }], complete: true };
}

/** The plan for a Secret that holds a state, of a replica that knows nothing else. */
function plan(state: ReadState | undefined, more: Partial<Sight> = {}) {
  return planStep({
    reading: state && readSecret(secretData(state)),
    kept: undefined,
    trust: state ? trusting(state) : trusting(),
    now: later(hour),
    trustedFor: undefined,
    waitedFor: 0,
    overlap: 1000,
    names,
    ...more,
  });
}

const step = (...args: Parameters<typeof plan>): Step['do'] => plan(...args).step.do;

suite('by the calendar', () => {
  test('nothing is done before its time', () => {
    assert.equal(step(first), 'none');
    assert.equal(step(first, { now: later(4 * day) }), 'none');
  });

  test('a leaf is issued at two thirds of its life, and says no fault', () => {
    const due = plan(first, { now: later(5 * day) });
    assert.deepEqual([due.step.do, due.faults], ['issue', []]);
  });

  test('the next authority is begun at two thirds of the life of the one that signs', async () => {
    const fresh = await done({ do: 'issue', state: first }, { now: later(300 * day) });
    assert.equal(step(fresh, { now: later(301 * day) }), 'begin');
    assert.equal(
      step(await done({ do: 'begin', state: fresh }, { now: later(301 * day) }), { now: later(302 * day) }),
      'none',
    );
  });

  test('a leaf that ends with its authority is not issued again and again', async () => {
    const begun = await done({ do: 'begin', state: first }, { now: later(363 * day) });
    const last = await done({ do: 'issue', state: begun }, { now: later(363 * day) });
    assert.equal(last.leaf.facts.notAfter.getTime(), first.authority.facts.notAfter.getTime());
    assert.equal(step(last, { now: later(364.9 * day) }), 'none');
  });

  test('the next authority signs once it was trusted for the overlap, and not before', async () => {
    const begun = await done({ do: 'begin', state: first });
    assert.ok(bundleOf(begun).includes(begun.next?.certificate ?? 'none'), 'it is to be trusted from now on');
    assert.equal(step(begun, { trustedFor: 999 }), 'none');
    const { step: promote } = plan(begun, { trustedFor: 1000 });
    assert.equal(promote.do, 'promote');
    const promoted = await done(promote, { now: later(day) });
    assert.equal(promoted.authority.certificate, begun.next?.certificate);
    assert.deepEqual(promoted.previous?.certificates, [first.authority.certificate]);
    assert.ok(
      !JSON.stringify(secretData(promoted)).includes(JSON.stringify(first.authority.key).slice(1, -1)),
    );
  });

  test('the previous authority is trusted until the last leaf that it can have signed has expired', async () => {
    const begun = await done({ do: 'begin', state: first });
    const promoted = await done({ do: 'promote', state: begun }, { now: later(day) });
    assert.equal(promoted.previous?.until.getTime(), later(8 * day).getTime());
    const long = await done({ do: 'issue', state: begun }, { leafDays: 90 });
    const longer = await done({ do: 'promote', state: long }, { now: later(day) });
    assert.equal(longer.previous?.until.getTime(), long.leaf.facts.notAfter.getTime());
    const served = await done({ do: 'issue', state: promoted }, { now: later(8 * day) });
    assert.equal(step(served, { now: later(8 * day) }), 'none');
    assert.equal(step(served, { now: later(8 * day + 1) }), 'drop');
  });
});

suite('what is known beats what is found', () => {
  test('a Secret that is gone is written back, where the caBundles come from what is known, or nobody is trusted', () => {
    for (const trust of [trusting(first), trusting()]) {
      const { step, faults } = plan(undefined, { kept: first, trust });
      assert.deepEqual(step, { do: 'restore', state: first });
      assert.deepEqual(
        faults.map(({ reason }) => reason),
        ['missing'],
      );
    }
  });

  test('where the caBundles trust somebody else, another replica is waited for, then what is known is written', () => {
    const more = { kept: first, trust: trusting(first, other) };
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
    const reasons = (more: Partial<Sight> = {}): string[] =>
      plan(undefined, more).faults.map(({ reason }) => reason);
    assert.deepEqual(reasons(), []);
    for (const more of [
      { kept: first },
      { trust: trusting(first) },
      { trust: trusting(first), waitedFor: patience },
      { trust: trusting(first), now: later(400 * day) },
      { trust: { ...trusting(), complete: false } },
    ]) {
      assert.deepEqual(reasons(more), ['missing']);
    }
  });

  test('a Secret with an authority that does not follow the one that is trusted is put back', () => {
    const seen = plan(other, { kept: first, trust: trusting(first) });
    assert.deepEqual(seen.step, { do: 'restore', state: first });
    assert.deepEqual(
      seen.faults.map(({ reason }) => reason),
      ['rolled-back'],
    );
  });

  test('it is taken where it is the one that is trusted, or where it says that it followed', async () => {
    assert.equal(step(other, { kept: first, trust: trusting(other) }), 'none');
    const begun = await done({ do: 'begin', state: first });
    const promoted = await done({ do: 'promote', state: begun });
    assert.equal(step(promoted, { kept: begun, trust: trusting(begun) }), 'none');
  });

  test('it is not put back by who remembers an authority that the others may have dropped', async () => {
    const begun = await done({ do: 'begin', state: first });
    const promoted = await done({ do: 'promote', state: begun });
    const dropped = await done({ do: 'drop', state: promoted });
    const before = { kept: first, trust: trusting(first) };
    assert.equal(step(dropped, before), 'restore', 'its leaf is in force');
    const served = await done({ do: 'issue', state: dropped }, { now: later(8 * day) });
    assert.equal(
      step(served, { ...before, now: later(8 * day) }),
      'none',
      'frozen since it read the caBundles',
    );
  });

  test('a replica that knows nothing waits before it believes an authority that nobody trusts', () => {
    assert.equal(step(other, { trust: trusting(first) }), 'wait');
    assert.equal(step(other, { trust: trusting(first), waitedFor: patience }), 'none');
    assert.equal(step(other, { trust: trusting() }), 'none');
  });

  test('nor does it serve by one that is not trusted yet, beside those that are', async () => {
    const promoted = await done({ do: 'promote', state: await done({ do: 'begin', state: first }) });
    assert.equal(step(promoted, { trust: trusting(first) }), 'wait');
    assert.equal(step(promoted, { trust: trusting(first), waitedFor: patience }), 'none');
  });

  test('it waits as well where something is wrong beside that authority, such as the leaf of an old copy', () => {
    const expired = { now: later(8 * day) };
    assert.equal(step(other, { ...expired, trust: trusting(first) }), 'wait');
    assert.equal(step(other, { ...expired, trust: trusting(first), waitedFor: patience }), 'issue');
    for (const trust of [trusting(), trusting(other)])
      assert.equal(step(other, { ...expired, trust }), 'issue');
  });

  test('it waits before it believes an older copy, whose authority is still trusted beside the one that followed', async () => {
    const begun = await done({ do: 'begin', state: first });
    const promoted = await done({ do: 'promote', state: begun });
    const now = { trust: trusting(promoted) };
    assert.equal(step(promoted, now), 'none');
    assert.equal(step(begun, now), 'none', 'nobody is trusted whom it does not know');
    assert.equal(step(first, now), 'wait');
    assert.equal(step(first, { ...now, waitedFor: patience }), 'none');
    assert.equal(step(first, { ...now, kept: first }), 'none', 'the caBundles are what is wrong');
  });

  test('so it does before an older copy goes on to its next authority', async () => {
    const begun = await done({ do: 'begin', state: first }, { now: later(300 * day) });
    const promoted = await done({ do: 'promote', state: begun }, { now: later(310 * day) });
    const further = await done({ do: 'begin', state: promoted }, { now: later(320 * day) });
    const expired = { now: later(400 * day), trust: trusting(further) };
    assert.equal(step(begun, expired), 'wait');
    assert.equal(step(begun, { ...expired, waitedFor: patience }), 'promote');
  });
});

suite('what is damaged', () => {
  const damaged = (data: Record<string, string>, more: Partial<Sight> = {}) =>
    plan(first, { reading: readSecret({ ...secretData(first), ...data }), ...more });

  test('a leaf is made anew by the authority, where nobody knows the old one', () => {
    for (const data of [{ 'tls.crt': '' }, { 'tls.key': other.leaf.key }, { ...leafOf(other) }]) {
      const { step, faults } = damaged(data);
      assert.equal(step.do, 'issue');
      assert.ok(faults.some(({ part }) => part === 'leaf'));
    }
  });

  test('it is written back where it is known', () => {
    assert.deepEqual(damaged({ 'tls.crt': '' }, { kept: first }).step, { do: 'restore', state: first });
  });

  test('what is known and has expired is not written back', () => {
    assert.equal(damaged({ 'tls.crt': '' }, { kept: first, now: later(8 * day) }).step.do, 'issue');
  });

  test('a next or previous authority that cannot be used is taken out', () => {
    assert.equal(damaged({ 'next.crt': 'x', 'next.key': 'y' }).step.do, 'rewrite');
    assert.equal(damaged({ 'previous.crt': 'x', 'previous-until': 'y' }).step.do, 'rewrite');
    assert.equal(damaged({ 'ca.crt': '' }).step.do, 'rewrite');
  });

  test('an authority that has expired makes way for the next one at once where that is trusted', async () => {
    const begun = await done({ do: 'begin', state: first }, { now: later(300 * day) });
    assert.equal(step(begun, { now: later(400 * day) }), 'promote');
    assert.equal(step(begun, { now: later(400 * day), trust: trusting() }), 'promote', 'nobody is trusted');
  });

  test('names that two versions ask for are put together: neither issues for ever', async () => {
    const { step: issue, faults } = plan(first, { names: ['another.svc'] });
    assert.deepEqual(
      faults.map(({ reason }) => reason),
      ['names'],
    );
    const both = await done(issue, { names: ['another.svc'] });
    for (const asked of [names, ['another.svc']]) assert.equal(step(both, { names: asked }), 'none');
  });
});

function leafOf({ leaf }: ReadState): Record<string, string> {
  return { 'tls.crt': leaf.certificate, 'tls.key': leaf.key };
}
