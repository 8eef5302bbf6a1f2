import assert from 'node:assert/strict';
import { mock, suite, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Reconcile, WorkQueue, type WorkQueueOptions } from '../../../webhook/leader/work-queue.ts';
import { TokenBucket } from '../../../webhook/lib/token-bucket.ts';

/** A running queue, and the keys that it has reconciled. The test controls the timers. */
function running(t: TestContext, reconcile: Reconcile, options: Partial<WorkQueueOptions> = {}) {
  mock.timers.enable({ apis: ['setTimeout'] });
  const queue = new WorkQueue({ inFlight: 1, baseDelay: 1000, maxDelay: 3000, ...options });
  const seen: string[] = [];
  const ended = new AbortController();
  const look: Reconcile = (key, signal) => {
    seen.push(key);
    return reconcile(key, signal);
  };
  const over = queue.run(look, ended.signal);
  t.after(async () => {
    ended.abort();
    mock.timers.reset();
    await over;
  });
  return { queue, seen, ended, over };
}

async function settled(): Promise<void> {
  for (let turns = 0; turns < 50; turns += 1) await nextTurn();
}

async function pass(ms: number): Promise<void> {
  mock.timers.tick(ms);
  await settled();
}

const done: Reconcile = async () => undefined;

suite('a work queue', () => {
  test('keeps a key once, and hands out keys in the order of their arrival', async (t) => {
    const { queue, seen } = running(t, done);
    for (const key of ['b', 'a', 'b']) queue.add(key);
    await settled();
    assert.deepEqual(seen, ['b', 'a']);
    queue.add('b');
    await settled();
    assert.deepEqual(seen, ['b', 'a', 'b']);
  });

  test('lets namespaces take turns', async (t) => {
    const { queue, seen } = running(t, done);
    for (const key of ['a/1', 'a/2', 'a/3', 'b/1', 'b/2', 'c/1']) queue.add(key);
    await settled();
    assert.deepEqual(seen, ['a/1', 'b/1', 'c/1', 'a/2', 'b/2', 'a/3']);
  });

  test('looks once more at a key that is added while it is looked at, and never twice at a time', async (t) => {
    const ends: (() => void)[] = [];
    const reconcile: Reconcile = () => new Promise((resolve) => ends.push(() => resolve(undefined)));
    const { queue, seen, ended } = running(t, reconcile, { inFlight: 2 });
    for (const key of ['a', 'b', 'c']) queue.add(key);
    await settled();
    for (let times = 0; times < 2; times += 1) queue.add('a');
    await settled();
    assert.deepEqual(seen, ['a', 'b'], 'two at a time');
    ends[0]?.();
    await settled();
    assert.deepEqual(seen, ['a', 'b', 'c']);
    ends[1]?.();
    await settled();
    assert.deepEqual(seen, ['a', 'b', 'c', 'a']);
    for (const end of ends) end();
    ended.abort();
  });

  test('doubles the pause of a key that backs off or throws; events do not end it, and success does', async (t) => {
    const failures: unknown[] = [];
    const results = ['back-off', 'throw', 'back-off', 'done', 'back-off'];
    const reconcile: Reconcile = async () => {
      const result = results.shift();
      if (result === 'throw') throw new Error('broken');
      return result === 'back-off' ? 'back-off' : undefined;
    };
    const { queue, seen } = running(t, reconcile, { failed: (error, key) => failures.push([error, key]) });
    const pauses: number[] = [];
    for (const [index, pause] of [1000, 2000, 3000].entries()) {
      queue.add('a');
      await settled();
      assert.equal(seen.length, index + 1);
      await pass(pause - 1);
      queue.add('a');
      await settled();
      assert.equal(seen.length, index + 1, `it was looked at before ${pause} ms`);
      await pass(1);
      pauses.push(seen.length);
    }
    assert.deepEqual(pauses, [2, 3, 4]);
    assert.deepEqual(failures, [[new Error('broken'), 'a']]);
    queue.add('a');
    await settled();
    await pass(1000);
    assert.equal(seen.length, 6, 'the first pause again');
  });

  test('takes a token for each key, and waits while a dear key has used up those of others', async (t) => {
    const bucket = new TokenBucket(0.000001, 5);
    const { queue, seen } = running(t, async () => void bucket.take(3), { bucket });
    // real timers are needed, because the queue polls the bucket while it is empty
    mock.timers.reset();
    for (const key of ['a', 'b', 'c']) queue.add(key);
    await settled();
    assert.deepEqual(seen, ['a', 'b']);
    bucket.take(-10);
    while (seen.length < 3) await nextTurn();
    assert.deepEqual(seen, ['a', 'b', 'c']);
  });

  test('leaves the event loop to others after each key', async (t) => {
    const { queue, seen } = running(t, done, { inFlight: 10 });
    for (let index = 0; index < 10_000; index += 1) queue.add(`shop/${index}`);
    await nextTurn();
    const before = seen.length;
    await nextTurn();
    assert.ok(seen.length - before <= 1, `${seen.length - before} keys in one turn`);
  });

  test('leaves no timer behind, also of a key that backs off after the end', async (t) => {
    const timers = (): number => process.getActiveResourcesInfo().filter((it) => it === 'Timeout').length;
    const before = timers();
    const ends: (() => void)[] = [];
    const reconcile: Reconcile = () => new Promise((resolve) => ends.push(() => resolve('back-off')));
    const { queue, ended, over } = running(t, reconcile, { inFlight: 2 });
    mock.timers.reset();
    for (const key of ['a', 'b']) queue.add(key);
    await settled();
    ends[0]?.();
    await settled();
    ended.abort();
    await settled();
    ends[1]?.();
    await over;
    assert.equal(timers(), before);
  });
});
