import assert from 'node:assert/strict';
import { test } from 'node:test';

/** A connect of the host with a kernel that the tests play: `connect` throws, and each socket is writable. */
const kernel = { code: '', closed: [] as number[] };
const clock = { now: 0 };
Object.assign(globalThis, {
  native: {
    now: () => clock.now,
    socket: () => 5,
    connect: () => {
      if (kernel.code !== '') throw new Error(kernel.code);
    },
    socketError: () => {},
    localEnd: () => ({ address: '10.0.0.1', port: 40_000 }),
    close: (descriptor: number) => kernel.closed.push(descriptor),
    poll: (descriptors: number[], wanted: number[], milliseconds: number) => {
      if (milliseconds > 0) clock.now += milliseconds;
      return descriptors.map((_, index) => wanted[index] ?? 0);
    },
  },
});
const { dial } = await import('../../../validator/host/dial.ts');
const { turn } = await import('../../../validator/host/loop.ts');

/** How a connect ends for which the kernel says this at once. */
async function dialled(code: string): Promise<object> {
  kernel.code = code;
  kernel.closed = [];
  let ended: object | undefined;
  dial({ host: '192.0.2.2', port: 1404, limit: 500 }).then((how) => {
    ended = how;
  });
  while (ended === undefined) {
    turn();
    await new Promise(setImmediate);
  }
  return ended;
}

test('without a route: no-route, although the kernel calls the socket writable', async () => {
  for (const code of ['ENETUNREACH', 'EHOSTUNREACH', 'EINVAL', 'EADDRNOTAVAIL']) {
    assert.deepEqual(await dialled(code), { as: 'no-route', code });
    assert.deepEqual(kernel.closed, [5]);
  }
});

test('a refusal at once is an answer', async () => {
  assert.deepEqual(await dialled('ECONNREFUSED'), { as: 'refused', code: 'ECONNREFUSED' });
});

test('a connect that goes on, and one that is there at once: connected', async () => {
  for (const code of ['EINPROGRESS', '']) {
    const how = await dialled(code);
    assert.deepEqual(Object.entries(how)[0], ['as', 'connected']);
    assert.deepEqual(kernel.closed, []);
  }
});
