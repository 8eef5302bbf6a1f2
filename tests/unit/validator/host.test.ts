import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { kernel, native, settled, turns } from './kernel.ts';

const { after, close, handleDefects, sleep, watch } = await import('../../../validator/host/loop.ts');
const { addressesOf, dial, lookUp } = await import('../../../validator/host/tcp.ts');

const isReady = (...ready: number[]): void => {
  kernel.happened = (descriptor) => (ready.includes(descriptor) ? 1 : 0);
};
afterEach(() => isReady());

test('timers fire in order, each in its own turn; a cancelled one does not fire', async () => {
  const came: string[] = [];
  after(20, () => came.push('late'));
  after(10.2, () => came.push('early'));
  const prevent = after(15, () => came.push('never'));
  prevent();
  await turns(1);
  assert.deepEqual(came, ['early']);
  assert.equal(kernel.polls.at(-1), 11, 'a whole number of milliseconds, not earlier');
  const before = kernel.now;
  await turns(1);
  assert.deepEqual([came, kernel.now - before], [['early', 'late'], 9]);
});

test('timers that are due together fire in the order of their times', async () => {
  const came: string[] = [];
  after(3, () => came.push('second'));
  after(2, () => came.push('first'));
  kernel.now += 5;
  await turns(2);
  assert.deepEqual(came, ['first', 'second']);
});

test('a descriptor that one event closes gets no event itself', async () => {
  const came: number[] = [];
  isReady(7, 8);
  watch(7, 1, () => {
    came.push(7);
    close(8);
    close(7);
  });
  watch(8, 1, () => came.push(8));
  after(0, () => {});
  await turns(3);
  assert.deepEqual(came, [7]);
});

test('an answer precedes a time-out in the same turn', async () => {
  const came: string[] = [];
  isReady(6);
  const prevent = after(0, () => came.push('time-out'));
  watch(6, 1, () => {
    came.push('answer');
    prevent();
    close(6);
  });
  await turns(2);
  assert.deepEqual(came, ['answer']);
});

test('what is pending when a timer fires is handled before sleep(0) resolves', async () => {
  const came: string[] = [];
  after(0, async () => {
    isReady(9);
    watch(9, 1, () => {
      came.push('descriptor');
      close(9);
    });
    await sleep(0);
    came.push('after it');
  });
  await turns(3);
  assert.deepEqual(came, ['descriptor', 'after it']);
});

test('an error in a callback, and nothing left to wait for, are defects', async () => {
  const defects: string[] = [];
  handleDefects((error) => defects.push(String(error)));
  after(0, () => {
    throw new Error('a hole');
  });
  await turns(1);
  watch(3, 1, () => {}, true);
  await turns(1);
  assert.deepEqual(defects, ['Error: a hole', 'Error: there is nothing left to wait for, and no verdict']);
});

for (const [code, as, closed] of [
  // there is no route, although the kernel reports the socket as writable
  ['ENETUNREACH', 'no-route', [5]],
  ['EHOSTUNREACH', 'no-route', [5]],
  ['EINVAL', 'no-route', [5]],
  ['EADDRNOTAVAIL', 'no-route', [5]],
  // an immediate refusal counts as an answer
  ['ECONNREFUSED', 'refused', [5]],
  ['EINPROGRESS', 'connected', []],
  ['', 'connected', []],
] as const)
  test(`a connect for which the kernel returns "${code}" immediately: ${as}`, async () => {
    const gone: number[] = [];
    Object.assign(native, {
      socket: () => 5,
      connect: () => {
        if (code !== '') throw new Error(code);
      },
      socketError: () => {},
      localEnd: () => ({ address: '10.0.0.1', port: 40_000 }),
      close: (descriptor: number) => gone.push(descriptor),
    });
    kernel.happened = (_, wanted) => wanted;
    const ended = await settled(dial({ host: '192.0.2.2', port: 1404, limit: 500 }));
    assert.deepEqual([ended.as, gone], [as, closed]);
    if (as === 'no-route' || as === 'refused') assert.deepEqual(ended, { as, code });
  });

test('a look-up that cannot begin fails with its error; names are in lower case and well-formed', async () => {
  const asked: string[] = [];
  native.lookUp = (name: string) => {
    asked.push(name);
    throw new Error('EMFILE');
  };
  await assert.rejects(lookUp('DB.Example\ud800'), { message: 'EMFILE' });
  assert.deepEqual(asked, ['db.example\ufffd']);
  assert.equal(await settled(addressesOf('db.example', 500)), 'EMFILE');
});
