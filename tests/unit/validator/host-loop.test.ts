import assert from 'node:assert/strict';
import { test } from 'node:test';

/** The host's event loop with a kernel that the tests play. */
const kernel = { now: 0, seen: new Map<number, number>(), polls: [] as number[] };
Object.assign(globalThis, {
  native: {
    now: () => kernel.now,
    close: () => {},
    poll: (descriptors: number[], _wanted: number[], milliseconds: number) => {
      kernel.polls.push(milliseconds);
      if (milliseconds > 0) kernel.now += milliseconds;
      return descriptors.map((descriptor) => kernel.seen.get(descriptor) ?? 0);
    },
  },
});
const { after, afterPending, close, handleDefects, turn, watch } = await import(
  '../../../validator/host/loop.ts'
);

/** One turn, and what its promises lead to, as the host does it. */
async function turns(count: number): Promise<void> {
  for (let index = 0; index < count; index++) {
    turn();
    await new Promise(setImmediate);
  }
}

test('timers in their order, each in a turn of its own; one that is prevented does not come', async () => {
  const came: string[] = [];
  after(20, () => came.push('late'));
  after(10.2, () => came.push('early'));
  const prevent = after(15, () => came.push('never'));
  prevent();
  await turns(1);
  assert.deepEqual(came, ['early']);
  assert.equal(kernel.polls.at(-1), 11, 'a whole number of milliseconds, not earlier');
  await turns(1);
  assert.deepEqual(came, ['early', 'late']);
});

test('a descriptor that one event closes is not told of its own', async () => {
  const came: number[] = [];
  kernel.seen = new Map([
    [7, 1],
    [8, 1],
  ]);
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

test('an answer precedes the time-out that it came in', async () => {
  const came: string[] = [];
  kernel.seen = new Map([[6, 1]]);
  const prevent = after(0, () => came.push('time-out'));
  watch(6, 1, () => {
    came.push('answer');
    prevent();
    close(6);
  });
  await turns(2);
  assert.deepEqual(came, ['answer']);
});

test('what is pending when a timer comes is handled before afterPending resolves', async () => {
  const came: string[] = [];
  after(0, async () => {
    kernel.seen = new Map([[9, 1]]);
    watch(9, 1, () => {
      came.push('descriptor');
      close(9);
    });
    await afterPending();
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
