import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { suite, type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { CniGateError } from '../../../webhook/lib/errors.ts';
import { bodiesOfTurn, serverLimits } from '../../../webhook/lib/limits.ts';
import { Bodies } from '../../../webhook/server/bodies.ts';

const { body: limit, largeBodies, largeBodyArrival, largeBodyWait, smallBody } = serverLimits;

/** Makes calls with mocked timers, so that the test controls the time. */
function server(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const stopped: string[] = [];
  const known = new Set<unknown>();
  const bodies = new Bodies(
    (why) => stopped.push(why),
    (request) => known.has(request),
  );
  return {
    stopped,
    /** Makes a call. Without a size, its body is sent in chunks. @returns the request, and a promise of its result */
    call(
      size?: number,
      isKnown = false,
      handler = async (text: Buffer, _turn: () => Promise<void>) => String(text),
    ) {
      const headers = size === undefined ? {} : { 'content-length': String(size) };
      const request = Object.assign(new PassThrough(), { headers });
      if (isKnown) known.add(request);
      const codeOf = (error: unknown) => (error instanceof CniGateError ? error.code : error);
      const end = bodies.handle(request as unknown as IncomingMessage, handler);
      return { request, end: end.catch(codeOf) };
    },
    async passes(milliseconds: number): Promise<void> {
      await turn();
      t.mock.timers.tick(milliseconds);
      await turn();
    },
  };
}

suite('a body', () => {
  test('is received in parts of any size', async (t) => {
    const { call } = server(t);
    for (const text of ['{"a":[1,2,3]}', 'x'.repeat(smallBody + 1)]) {
      const { request, end } = call(text.length);
      for (const part of [text.slice(0, 5), text.slice(5)]) request.write(part);
      request.end();
      assert.equal(await end, text);
    }
  });

  test('of callers that disconnect at the same moment, a few end in each turn of the event loop', async (t) => {
    const { call } = server(t);
    let ended = 0;
    const calls = Array.from({ length: 10 * bodiesOfTurn }, () => call(100));
    const ends = calls.map(({ end }) => end.then(() => ended++));
    for (const { request } of calls) request.destroy();
    await turn();
    assert.ok(ended <= 2 * bodiesOfTurn, `${ended} ended`);
    await Promise.all(ends);
  });

  for (const [size, most] of [
    [smallBody, bodiesOfTurn],
    [smallBody + 1, 1],
  ] as const) {
    test(`of ${size} bytes is read with at most ${most - 1} others in a turn of the event loop, also again`, async (t) => {
      const { call } = server(t);
      let reads = 0;
      const calls = Array.from({ length: 3 * most }, () =>
        call(size, false, async (_text, again) => {
          reads++;
          await again();
          reads++;
          return '';
        }),
      );
      for (const { request } of calls) request.end('x'.repeat(size));
      let turns = 0;
      for (let before = 0; reads < 6 * most; before = reads) {
        await turn();
        turns++;
        assert.ok(reads - before <= most, `${reads - before} reads`);
      }
      assert.ok(turns <= 12, `${turns} turns`);
      await Promise.all(calls.map(({ end }) => end));
    });
  }

  test('in chunks may be as large as the limit, and no larger', async (t) => {
    const { call } = server(t);
    const ends = [limit, limit + 1].map(async (length) => {
      const { request, end } = call();
      request.write('x'.repeat(length - 1));
      request.end('x');
      return String(await end).slice(0, 30);
    });
    assert.deepEqual(await Promise.all(ends), ['x'.repeat(30), 'CNI_GATE_REVIEW_TOO_LARGE']);
    assert.equal(await call(limit + 1).end, 'CNI_GATE_REVIEW_TOO_LARGE');
  });

  test('that ends before it is complete is an error, and gives its place back', async (t) => {
    const { call } = server(t);
    for (let count = 0; count <= largeBodies; count++) {
      const { request, end } = call(limit);
      request.destroy();
      assert.equal(await end, 'CNI_GATE_REVIEW_SYNTAX');
    }
  });
});

suite('while large bodies occupy all places', () => {
  const full = (t: TestContext, handler?: () => Promise<string>) => {
    const calls = server(t);
    const holders = Array.from({ length: largeBodies }, () => calls.call(limit, false, handler));
    return { ...calls, holders };
  };

  test('a small body is answered', async (t) => {
    const { call } = full(t);
    const { request, end } = call(2);
    request.end('{}');
    assert.equal(await end, '{}');
  });

  test('a body that has not arrived after 2 s gives its place to a known caller, then to others', async (t) => {
    const { call, holders, passes, stopped } = full(t);
    const waiting = [call(smallBody + 1), call(smallBody + 1, true)];
    for (const { request } of waiting) request.end('1');
    const order: number[] = [];
    for (const [index, { end }] of waiting.entries()) void end.then(() => order.push(index));
    await passes(largeBodyArrival - 1);
    assert.deepEqual([stopped, order], [[], []]);
    await passes(1);
    assert.deepEqual(
      await Promise.all(holders.map(({ end }) => end)),
      Array(largeBodies).fill('CNI_GATE_BUSY'),
    );
    assert.deepEqual(await Promise.all(waiting.map(({ end }) => end)), ['1', '1']);
    assert.deepEqual([order, stopped], [[1, 0], Array(largeBodies).fill('slow-body')]);
  });

  test('another large one is refused after 3 s', async (t) => {
    const { promise, resolve } = Promise.withResolvers<string>();
    const { call, holders, passes, stopped } = full(t, () => promise);
    for (const { request } of holders) request.end('x');
    const late = call(limit);
    await passes(largeBodyWait - 1);
    assert.deepEqual(stopped, []);
    await passes(1);
    assert.deepEqual([await late.end, stopped], ['CNI_GATE_BUSY', ['bodies']]);
    resolve('answered');
    await Promise.all(holders.map(({ end }) => end));
  });
});
