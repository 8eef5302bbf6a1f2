import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { afterEach, beforeEach, mock, suite, test } from 'node:test';
import type { SharedObjects } from '../../../certs/objects.ts';
import { Reconciler } from '../../../certs/reconcile.ts';
import { bundleOf, newAuthority, type State, secretData } from '../../../certs/rotation.ts';
import { CniGateError } from '../../../webhook/lib/errors.ts';
import { conflict, World } from './world.ts';

const [one, other] = ['mutating/one', 'validating/other'] as const;
const options = { names: ['x.svc'] };
let state: State;
let world: World;
let reconciler: Reconciler;
/** The steps, repairs and failures that the reconciler reported. */
let reported: string[];
/** The webhook configurations that the reconciler found correct or has corrected. */
let well: string[];
/** Functions that replace single requests to the cluster. */
let instead: Partial<SharedObjects>;

/** A replica that has not reconciled yet. */
const replica = (): Reconciler =>
  new Reconciler({
    ...options,
    shared: new Proxy(world.shared, {
      get: (target, key: keyof SharedObjects) => instead[key] ?? target[key],
    }),
    overlap: 1000,
    report: {
      wrote: ({ step }) => reported.push(step),
      repaired: (name, reason) => reported.push(`${name} ${reason}`),
      agreed: () => reported.push('state'),
      well: (name) => well.push(name),
      failed: (about, { code }) => reported.push(`${about} ${code}`),
    },
  });

/** Writes a state into the Secret and both webhook configurations. */
function write(written: State): void {
  world.setSecret(secretData(written));
  for (const name of [one, other]) world.bundles.set(name, bundleOf(written));
}

suite('a replica', () => {
  beforeEach(async () => {
    [world, reported, well, instead] = [new World(), [], [], {}];
    mock.method(performance, 'now', () => world.monotonicNow);
    state = { authority: newAuthority(365, world.now()) };
    write(state);
    reconciler = replica();
    assert.equal(await reconciler.reconcile(), 'done');
    assert.deepEqual([reported.splice(0), well.splice(0)], [['state'], [one, other]]);
  });

  afterEach(() => mock.restoreAll());

  test('a configuration that may not be patched is reported, and the other one is still patched', async () => {
    for (const name of [one, other]) world.bundles.set(name, undefined);
    const { trust } = world.shared;
    instead = {
      trust: async (seen, bundle) => {
        if (seen.name === one) throw new CniGateError('CNI_GATE_CA_BUNDLE', 'forbidden');
        await trust(seen, bundle);
      },
    };
    assert.equal(await reconciler.reconcile(), 'again');
    assert.deepEqual(reported, [`${one} CNI_GATE_CA_BUNDLE`, `${other} empty`, 'state']);
    assert.deepEqual(well, [other]);
    const bundles = [one, other].map((name) => world.bundles.get(name));
    assert.deepEqual(bundles, [undefined, bundleOf(state)]);
    reported.splice(0);
    assert.equal(await reconciler.reconcile(), 'done', 'it is retried after a pause, as after any failure');
    assert.deepEqual(reported, [`${one} CNI_GATE_CA_BUNDLE`, 'state']);
  });

  test('an object that has changed since it was read is read again, which is no failure', async () => {
    world.bundles.set(one, undefined);
    instead = { trust: () => Promise.reject(conflict), write: () => Promise.reject(conflict) };
    assert.equal(await reconciler.reconcile(), 'again');
    assert.deepEqual([reported.splice(0), well], [['state'], [other]]);
    world.setSecret(undefined);
    assert.equal(await reconciler.reconcile(), 'again');
    assert.deepEqual(reported, []);
    instead = { trust: () => Promise.reject(new TypeError('a bug')) };
    await assert.rejects(reconciler.reconcile(), TypeError);
  });

  test('a Secret without our label stays as it is, and so does what is served', async () => {
    const { leaf } = reconciler;
    world.setSecret({ password: 'x' }, { labelled: false, sameUid: false });
    await assert.rejects(reconciler.reconcile(), { code: 'CNI_GATE_TLS_SECRET_FOREIGN' });
    assert.deepEqual([world.secret?.data, reconciler.leaf], [{ password: 'x' }, leaf]);
    for (const [data, labelled, sameUid] of [
      [{ password: 'x' }, true, false],
      [{ 'tls.crt': '' }, false, false],
      [{ password: 'x' }, false, true],
    ] as const) {
      world.setSecret(data, { labelled, sameUid });
      assert.equal(await reconciler.reconcile(), 'again');
      assert.deepEqual([world.secret?.data, reported.splice(0)], [secretData(state), ['restore', 'state']]);
    }
    world.setSecret(secretData(state), { labelled: false, sameUid: false });
    assert.equal(await reconciler.reconcile(), 'done', 'nothing has to be written');
  });

  const day = 86_400_000;

  /** Advances the clock by `days` and reconciles. @returns for how many days the serving certificate is still valid */
  async function validAfter(days: number): Promise<number> {
    world.monotonicNow += days * day;
    const result = await reconciler.reconcile();
    assert.equal(result, 'done', reported.join());
    return ((reconciler.leaf?.notAfter.getTime() ?? 0) - world.now().getTime()) / day;
  }

  test('the serving certificate has the names, and is renewed at two thirds of its life without a write', async () => {
    const { certificate } = reconciler.leaf ?? assert.fail();
    assert.ok(new X509Certificate(certificate).checkHost('x.svc'));
    const written = world.secret;
    assert.equal(await validAfter(4.6), 2.4);
    assert.equal(reconciler.leaf?.certificate, certificate);
    assert.equal(await validAfter(0.1), 7);
    assert.notEqual(reconciler.leaf?.certificate, certificate);
    assert.equal(world.secret, written);
    assert.equal(await validAfter(-3), 7, 'it is not valid yet by a clock that was set back');
  });

  test('a configuration that cannot be read stops the rotation, and does not restart the overlap', async () => {
    const next = newAuthority(365, world.now());
    world.monotonicNow += 700;
    world.setSecret(secretData({ ...state, next }));
    for (const [milliseconds, result] of [
      [0, 'again'],
      [0, 'done'],
      [999, 'done'],
    ] as const) {
      world.monotonicNow += milliseconds;
      assert.equal(await reconciler.reconcile(), result);
    }
    reported.splice(0);
    world.monotonicNow += 1;
    const found = await world.shared.configurations();
    const busy = new CniGateError('CNI_GATE_CLUSTER_BUSY', 'no answer');
    instead = {
      configurations: async () => ({ found: found.found.slice(1), faults: new Map([[one, busy]]) }),
    };
    assert.equal(await reconciler.reconcile(), 'done');
    instead = {};
    assert.equal(await reconciler.reconcile(), 'again');
    assert.deepEqual(reported, [`${one} CNI_GATE_CLUSTER_BUSY`, 'state', 'promote', 'state']);
    assert.equal(world.secret?.data['tls.crt'], next.certificate);
    assert.equal(reconciler.leaf?.signedBy, next.fingerprint);
  });

  test('a clock that is wrong until the API server answers does not replace the authority', async () => {
    let skew = -400 * day;
    instead = {
      now: () => new Date(world.now().getTime() + skew),
      secret: async () => {
        skew = 0;
        return world.shared.secret();
      },
    };
    assert.equal(await reconciler.reconcile(), 'done');
    assert.deepEqual(reported, ['state']);
  });

  test('a replica serves no certificate of an authority that it could not write', async () => {
    world.setSecret(undefined);
    instead = { write: () => Promise.reject(conflict) };
    const late = replica();
    assert.equal(await late.reconcile(), 'again');
    assert.equal(late.leaf, undefined);
  });

  test('a Secret that is written while a replica reads never leads to an older caBundle', async () => {
    const newer = { ...state, next: newAuthority(365, world.now()) };
    instead = {
      configurations: async () => {
        write(newer);
        return world.shared.configurations();
      },
    };
    assert.equal(await reconciler.reconcile(), 'done');
    assert.equal(world.bundles.get(one), bundleOf(newer));
  });

  test('a replica does not restore an authority whose certificates have expired', async () => {
    world.monotonicNow += 7.1 * day;
    world.setSecret(undefined);
    await reconciler.reconcile();
    assert.deepEqual(reported, ['create', `${one} foreign`, `${other} foreign`, 'state']);
  });

  test('a certificate that ends with its authority is not issued again', async () => {
    write({ authority: newAuthority(1, world.now()) });
    const late = replica();
    await late.reconcile();
    const { leaf } = late;
    world.monotonicNow += 0.8 * day;
    assert.equal(await late.reconcile(), 'again');
    assert.deepEqual([late.leaf, reported.includes('begin')], [leaf, true]);
  });
});
