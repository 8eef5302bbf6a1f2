import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import { carryOut, type Making } from '../../../certs/managed/carry-out.ts';
import { patience } from '../../../certs/managed/plan.ts';
import type { ReadState } from '../../../certs/managed/reading.ts';
import { secretData } from '../../../certs/managed/secret.ts';
import { bundleOf } from '../../../certs/managed/state.ts';
import { Keeper } from '../../../webhook/certificates/keeper.ts';
import { ChangedSince, type SeenConfiguration, type Shared } from '../../../webhook/certificates/shared.ts';
import { CniGateError } from '../../../webhook/lib/errors.ts';
import { keyRing } from '../../support/certificates/keys.ts';
import { World } from '../../support/certificates/world.ts';

const [one, other] = ['mutating/one', 'validating/other'];
let making: Omit<Making, 'now'>;
let state: ReadState;
let world: World;
let keeper: Keeper;
/** What the keeper told of. */
let told: string[];
/** What stands in for a request to the cluster. */
let instead: Partial<Shared>;

before(async () => {
  making = { authorityDays: 30, leafDays: 7, names: ['x.svc'], keys: await keyRing() };
});

beforeEach(async () => {
  [world, told, instead] = [new World(), [], {}];
  const made = await carryOut({ do: 'create' }, { ...making, now: world.now() });
  assert.ok(made);
  state = made;
  world.setSecret(secretData(state));
  for (const name of [one, other]) world.setBundle(name, bundleOf(state));
  const shared = world.shared(async () => {});
  keeper = new Keeper({
    ...making,
    shared: new Proxy(shared, { get: (target, key: keyof Shared) => instead[key] ?? target[key] }),
    steady: () => world.steady,
    overlap: 1000,
    events: {
      wrote: (step) => told.push(step),
      waiting: () => told.push('waiting'),
      mended: (name, reason) => told.push(`${name} ${reason}`),
      state: () => told.push('state'),
      seen: () => {},
      failed: (about, { code }) => told.push(`${about} ${code}`),
    },
  });
  assert.equal(await keeper.look(), 'done');
  assert.deepEqual(told.splice(0), ['state']);
});

/** Whether each configuration trusts what the state says. */
const whole = (): boolean[] =>
  [one, other].map((name) => world.configurations.get(name)?.bundle === bundleOf(state));

/** The request that patches one configuration, with something that goes wrong before. */
function patching(wrong: (seen: SeenConfiguration) => void): void {
  const { trust } = world.shared(async () => {});
  instead = {
    trust: async (seen, bundle) => {
      wrong(seen);
      await trust(seen, bundle);
    },
  };
}

test('every caBundle that is not as it should be is put right, and looked at again', async () => {
  world.setBundle(one, undefined);
  world.setBundle(other, 'garbage');
  assert.equal(await keeper.look(), 'again');
  assert.deepEqual(told, [`${one} empty`, `${other} unreadable`, 'state']);
  assert.deepEqual(whole(), [true, true]);
  assert.equal(await keeper.look(), 'done');
});

test('one that is as it should be is left alone', async () => {
  patching(({ name }) => assert.fail(`${name} is patched`));
  assert.equal(await keeper.look(), 'done');
});

test('a second webhook of ours counts as much as the first', async () => {
  const { configurations } = world.shared(async () => {});
  const patched: number[][] = [];
  instead = {
    configurations: async () => {
      const seen = await configurations();
      for (const each of seen.configurations) {
        each.bundles = [bundleOf(state), each.name === one ? undefined : bundleOf(state)];
        each.webhooks = [0, 3];
      }
      return seen;
    },
    trust: async ({ webhooks }) => {
      patched.push(webhooks);
    },
  };
  assert.equal(await keeper.look(), 'again');
  assert.deepEqual(patched, [[0, 3]]);
});

test('a configuration that may not be patched is told of, and does not keep the other from it', async () => {
  for (const name of [one, other]) world.setBundle(name, undefined);
  patching(({ name }) => {
    if (name === one) throw new CniGateError('CNI_GATE_CA_BUNDLE', 'forbidden');
  });
  assert.equal(await keeper.look(), 'again');
  assert.deepEqual(told, [`${one} CNI_GATE_CA_BUNDLE`, `${other} empty`, 'state']);
  assert.deepEqual(whole(), [false, true]);
  told.splice(0);
  assert.equal(await keeper.look(), 'done', 'it waits for its time, as after any failure');
  assert.deepEqual(told, [`${one} CNI_GATE_CA_BUNDLE`, 'state']);
});

test('one that was changed by somebody meanwhile is looked at again at once, and nobody is told', async () => {
  world.setBundle(one, undefined);
  patching(() => {
    throw new ChangedSince();
  });
  assert.equal(await keeper.look(), 'again');
  assert.deepEqual(told, ['state']);
});

test("while the Secret is somebody else's, what is served stays trusted", async () => {
  world.setSecret({ password: 'x' }, { labelled: false, sameUid: false });
  world.setBundle(one, undefined);
  await assert.rejects(keeper.look(), { code: 'CNI_GATE_TLS_SECRET_FOREIGN' });
  assert.deepEqual(told, [`${one} empty`]);
  assert.deepEqual(whole(), [true, true]);
  assert.deepEqual(world.secret?.data, { password: 'x' });
});

test('while it waits for another replica it puts nothing into a caBundle; after its time it does', async () => {
  const stranger = await carryOut({ do: 'create' }, { ...making, now: world.now() });
  assert.ok(stranger);
  world.setSecret(undefined);
  for (const name of [one, other]) world.setBundle(name, bundleOf(stranger));
  for (const passed of [0, patience - 1]) {
    world.steady += passed;
    assert.equal(await keeper.look(), 'wait');
  }
  assert.deepEqual(told.splice(0), ['waiting', 'waiting']);
  assert.deepEqual(whole(), [false, false]);
  world.steady += 1;
  assert.equal(await keeper.look(), 'again');
  assert.deepEqual(told, ['restore', `${one} foreign`, `${other} foreign`, 'state']);
  assert.deepEqual(whole(), [true, true]);
});

test('what another replica does between the two reads is not undone', async () => {
  const begun = await carryOut({ do: 'begin', state }, { ...making, now: world.now() });
  assert.ok(begun);
  const plain = world.shared(async () => {});
  const reads: (() => void)[] = [
    () => {},
    () => {
      world.setSecret(secretData(begun));
      for (const name of [one, other]) world.setBundle(name, bundleOf(begun));
    },
  ];
  instead = {
    configurations: () => {
      reads.shift()?.();
      return plain.configurations();
    },
    secret: () => {
      reads.shift()?.();
      return plain.secret();
    },
  };
  assert.equal(await keeper.look(), 'again');
  assert.deepEqual(told, ['state']);
  for (const { bundle } of world.configurations.values()) assert.equal(bundle, bundleOf(begun));
});
