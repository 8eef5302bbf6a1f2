import assert from 'node:assert/strict';
import { mock, suite, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ControllerOptions, runController, type Work } from '../../../webhook/leader/controller.ts';
import { TokenBucket } from '../../../webhook/lib/token-bucket.ts';
import { switchedLead, until } from './scene.ts';

interface Scene extends Partial<ControllerOptions> {
  leads?: boolean;
  keys?: string[];
  reconcile?: Work['reconcile'];
}

/** Starts a controller, and records the keys that it reconciles. Pauses last until the test advances the timers. */
function controlled(t: TestContext, { leads = true, keys = [], reconcile, ...options }: Scene = {}) {
  mock.timers.enable({ apis: ['setTimeout'] });
  const seen: string[] = [];
  const warnings: string[] = [];
  const { leader, lead } = switchedLead(leads);
  let begun = 0;
  let add = (_: Iterable<string>): void => {};
  const ended = new AbortController();
  const begin = (): Work => {
    begun += 1;
    return {
      subscribe: (subscriber) => {
        add = subscriber;
        return () => {};
      },
      keys: async () => keys,
      reconcile: async (key, signal) => {
        seen.push(key);
        return reconcile?.(key, signal);
      },
    };
  };
  const log = { info: () => {}, warn: (_: object, text: string) => warnings.push(text), error: () => {} };
  const queue = { inFlight: 1, baseDelay: 1000, maxDelay: 3000, failure: 'pods cannot be steered' };
  const over = runController({ leader, resync: 60_000, log, begin, ...queue, ...options }, ended.signal);
  t.after(async () => {
    ended.abort();
    mock.timers.reset();
    await over;
  });
  return { seen, warnings, lead, ended, add: (...some: string[]) => add(some), begun: () => begun };
}

async function settled(): Promise<void> {
  for (let turns = 0; turns < 50; turns += 1) await nextTurn();
}

async function pass(ms: number): Promise<void> {
  mock.timers.tick(ms);
  await settled();
}

/** A function `reconcile` whose calls last until the test ends them, one by one, with the functions in `ends`. */
function oneByOne() {
  const ends: (() => void)[] = [];
  const reconcile: Work['reconcile'] = () => new Promise((end) => ends.push(() => end(undefined)));
  return { ends, reconcile };
}

suite('a controller', () => {
  test('does nothing while another process leads, and starts again when the lead changes', async (t) => {
    const { seen, add, lead, begun } = controlled(t, { leads: false, keys: ['a/1'], resync: 20 });
    add('b/1');
    await settled();
    assert.deepEqual(seen, []);
    lead(true);
    await until(() => seen.length > 0);
    lead(false);
    await until(() => begun() === 3);
    const { length } = seen;
    add('b/1');
    await settled();
    assert.equal(seen.length, length);
  });

  test('logs repeated failures once, and continues with the other keys', async (t) => {
    const reconcile: Work['reconcile'] = async (key) => {
      if (key !== 'good/1') throw new Error('broken');
      return undefined;
    };
    const { seen, warnings } = controlled(t, { keys: ['a/1', 'a/2', 'good/1'], reconcile, resync: 20 });
    await until(() => seen.filter((key) => key === 'good/1').length > 1);
    assert.deepEqual(warnings, ['pods cannot be steered: broken; cni-gate tries again']);
  });

  test('reconciles a key once, in the order of arrival, and lets namespaces take turns', async (t) => {
    const { add, seen } = controlled(t);
    add('b', 'a', 'b');
    await settled();
    assert.deepEqual(seen.splice(0), ['b', 'a']);
    add('b', 'a/1', 'a/2', 'a/3', 'c/1', 'c/2', 'd/1');
    await settled();
    assert.deepEqual(seen, ['b', 'a/1', 'c/1', 'd/1', 'a/2', 'c/2', 'a/3']);
  });

  test('reconciles a key again if it is added meanwhile, and never twice at the same time', async (t) => {
    const { ends, reconcile } = oneByOne();
    const { add, seen, ended } = controlled(t, { reconcile, inFlight: 2 });
    add('a', 'b', 'c');
    await settled();
    add('a', 'a');
    await settled();
    assert.deepEqual(seen, ['a', 'b'], 'two at a time');
    for (const expected of [
      ['a', 'b', 'c'],
      ['a', 'b', 'c', 'a'],
    ]) {
      ends.shift()?.();
      await settled();
      assert.deepEqual(seen, expected);
    }
    for (const end of ends) end();
    ended.abort();
  });

  test('doubles the pause of a key that backs off or throws; events do not end it, and success does', async (t) => {
    const results = ['back-off', 'throw', 'back-off', 'done', 'back-off'];
    const reconcile: Work['reconcile'] = async () => {
      const result = results.shift();
      if (result === 'throw') throw new Error('broken');
      return result === 'back-off' ? 'back-off' : undefined;
    };
    const { add, seen } = controlled(t, { reconcile });
    for (const [index, pause] of [1000, 2000, 3000].entries()) {
      add('a');
      await settled();
      assert.equal(seen.length, index + 1);
      await pass(pause - 1);
      add('a');
      await settled();
      assert.equal(seen.length, index + 1, `it was reconciled before ${pause} ms`);
      await pass(1);
      assert.equal(seen.length, index + 2);
    }
    add('a');
    await settled();
    await pass(1000);
    assert.equal(seen.length, 6, 'the first pause again');
  });

  test('takes a token for each key, and waits while an expensive key has used up those of others', async (t) => {
    const bucket = new TokenBucket(0.000001, 8);
    const { add, seen } = controlled(t, { reconcile: async () => void bucket.take(3), bucket });
    // while the bucket is empty, the queue polls it, and polling needs real timers
    mock.timers.reset();
    add('a', 'b', 'c');
    await settled();
    assert.deepEqual(seen, ['a', 'b']);
    bucket.take(-10);
    while (seen.length < 3) await nextTurn();
  });

  test('yields to the event loop after each key', async (t) => {
    const { add, seen } = controlled(t, { inFlight: 10 });
    add(...Array.from({ length: 10_000 }, (_, index) => `shop/${index}`));
    await nextTurn();
    const before = seen.length;
    await nextTurn();
    assert.ok(seen.length < 10_000 && seen.length - before <= 1, `${seen.length - before} keys in one turn`);
  });
});
