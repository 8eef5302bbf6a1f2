import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import type { SharedObjects } from '../../../certs/objects.ts';
import { Reconciler } from '../../../certs/reconcile.ts';
import { bundleOf, newAuthority, type State, secretData } from '../../../certs/rotation.ts';
import { CniGateError } from '../../../webhook/lib/errors.ts';
import { conflict, World } from '../../support/certs/world.ts';

const [one, other] = ['mutating/one', 'validating/other'] as const;
const options = { authorityDays: 365, leafDays: 7, names: ['x.svc'] };
let state: State;
let world: World;
let reconciler: Reconciler;
/** The steps, repairs and failures that the reconciler reported. */
let reported: string[];
/** The configurations that the reconciler found correct, or has corrected. */
let well: string[];
/** Functions that replace requests to the cluster. */
let instead: Partial<SharedObjects>;

beforeEach(async () => {
  [world, reported, well, instead] = [new World(), [], [], {}];
  state = { authority: newAuthority(365, world.now()) };
  world.setSecret(secretData(state));
  for (const name of [one, other]) world.setBundle(name, bundleOf(state));
  const shared = world.shared(async () => {});
  reconciler = new Reconciler({
    ...options,
    shared: new Proxy(shared, { get: (target, key: keyof SharedObjects) => instead[key] ?? target[key] }),
    monotonicNow: () => world.monotonicNow,
    overlap: 1000,
    report: {
      wrote: ({ step }) => reported.push(step),
      repaired: (name, reason) => reported.push(`${name} ${reason}`),
      agreed: () => reported.push('state'),
      well: (name) => well.push(name),
      failed: (about, { code }) => reported.push(`${about} ${code}`),
    },
  });
  assert.equal(await reconciler.reconcile(), 'done');
  assert.deepEqual([reported.splice(0), well.splice(0)], [['state'], [one, other]]);
});

test('a configuration that may not be patched is reported, and the other is patched all the same', async () => {
  for (const name of [one, other]) world.setBundle(name, undefined);
  const { trust } = world.shared(async () => {});
  instead = {
    trust: async (seen, bundle) => {
      if (seen.name === one) throw new CniGateError('CNI_GATE_CA_BUNDLE', 'forbidden');
      await trust(seen, bundle);
    },
  };
  assert.equal(await reconciler.reconcile(), 'again');
  assert.deepEqual(reported, [`${one} CNI_GATE_CA_BUNDLE`, `${other} empty`, 'state']);
  assert.deepEqual(well, [other]);
  const bundles = [one, other].map((name) => world.configurations.get(name)?.bundle);
  assert.deepEqual(bundles, [undefined, bundleOf(state)]);
  reported.splice(0);
  assert.equal(await reconciler.reconcile(), 'done', 'it waits for its time, as after any failure');
  assert.deepEqual(reported, [`${one} CNI_GATE_CA_BUNDLE`, 'state']);
});

test('an object that was changed since it was read is read again, which is no failure', async () => {
  world.setBundle(one, undefined);
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
  for (const [data, labelled] of [
    [{ password: 'x' }, true],
    [{ 'tls.crt': '' }, false],
  ] as const) {
    world.setSecret(data, { labelled, sameUid: false });
    assert.equal(await reconciler.reconcile(), 'again');
    assert.deepEqual([world.secret?.data, reported.splice(0)], [secretData(state), ['restore', 'state']]);
  }
  world.setSecret(secretData(state), { labelled: false, sameUid: false });
  assert.equal(await reconciler.reconcile(), 'done', 'nothing has to be written');
});

const day = 86_400_000;

/** Reconciles after some days. Returns for how many more days the certificate that is served then is valid. */
async function validAfter(days: number): Promise<number> {
  world.monotonicNow += days * day;
  const result = await reconciler.reconcile();
  assert.equal(result, 'done', reported.join());
  return ((reconciler.leaf?.notAfter.getTime() ?? 0) - world.now().getTime()) / day;
}

test('the serving certificate is for the names, and is renewed at two thirds of its life without a write', async () => {
  const { certificate } = reconciler.leaf ?? assert.fail();
  assert.ok(new X509Certificate(certificate).checkHost('x.svc'));
  const written = world.secret?.version;
  assert.equal(await validAfter(4.6), 2.4);
  assert.equal(reconciler.leaf?.certificate, certificate);
  assert.equal(await validAfter(0.1), 7);
  assert.notEqual(reconciler.leaf?.certificate, certificate);
  assert.equal(world.secret?.version, written);
});

test('a configuration that cannot be read holds the rotation, and does not start the overlap again', async () => {
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
  const found = await world.shared(async () => {}).configurations();
  const busy = new CniGateError('CNI_GATE_CLUSTER_BUSY', 'no answer');
  instead = { configurations: async () => ({ found: found.found.slice(1), faults: new Map([[one, busy]]) }) };
  assert.equal(await reconciler.reconcile(), 'done');
  instead = {};
  assert.equal(await reconciler.reconcile(), 'again');
  assert.deepEqual(reported, [`${one} CNI_GATE_CLUSTER_BUSY`, 'state', 'promote', 'state']);
  assert.equal(world.secret?.data['tls.crt'], next.certificate);
});

test('a clock that is wrong until the API server answers replaces no authority', async () => {
  const plain = world.shared(async () => {});
  let skew = -400 * day;
  instead = {
    now: () => new Date(world.now().getTime() + skew),
    secret: async () => {
      skew = 0;
      return plain.secret();
    },
  };
  assert.equal(await reconciler.reconcile(), 'done');
  assert.deepEqual(reported, ['state']);
});
