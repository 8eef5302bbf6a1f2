import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { suite, type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { CniGateError } from '../../../webhook/lib/errors.ts';
import { jsonCost } from '../../../webhook/lib/json-cost.ts';
import { Bodies } from '../../../webhook/server/bodies.ts';

const MiB = 1024 * 1024;
const limit = 7 * MiB;
/** What one call may take of 24 MiB. */
const largest = 18 * MiB;

/** Calls with 24 MiB of memory, on a clock of their own. */
function server(t: TestContext) {
  let now = 0;
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
  t.mock.method(performance, 'now', () => now);
  const stopped: string[] = [];
  const known = new Set<unknown>();
  const overload = (why: string): unknown => stopped.push(why);
  const bodies = new Bodies(24 * MiB, overload, (request) => known.has(request));
  return {
    bodies,
    stopped,
    /** A call. Without a size, its body comes in chunks. @returns its body, and how it ends */
    call(size?: number, isKnown = false, handler: (body: unknown) => unknown = () => 'answered') {
      const headers = size === undefined ? {} : { 'content-length': String(size) };
      const request = Object.assign(new PassThrough(), { headers });
      if (isKnown) known.add(request);
      const codeOf = (error: unknown) => (error instanceof CniGateError ? error.code : error);
      const end = bodies.handle(request as unknown as IncomingMessage, limit, handler).catch(codeOf);
      return { request, end };
    },
    async passes(milliseconds: number): Promise<void> {
      await turn();
      for (const end = now + milliseconds; now < end; await turn()) {
        now += 50;
        t.mock.timers.tick(50);
      }
    },
  };
}

suite('a body', () => {
  test('takes the memory of an ordinary one of its size, then its own estimate, until it is answered', async (t) => {
    const { bodies, call, passes } = server(t);
    for (const [text, ordinary] of [
      ['{"a":[1,2,3]}', 13 * 20],
      [`"${'x'.repeat(2 * MiB)}"`, largest],
    ] as const) {
      let held = 0;
      const { request, end } = call(text.length, false, (body) => {
        held = bodies.inFlight;
        return body;
      });
      await passes(0);
      assert.equal(bodies.inFlight, ordinary);
      for (const part of [text.slice(0, 5), text.slice(5)]) request.write(part);
      request.end();
      assert.deepEqual(await end, JSON.parse(text));
      assert.deepEqual([held, bodies.inFlight], [jsonCost(Buffer.from(text)).heap, 0]);
    }
  });

  test('that takes more than an ordinary one is stopped where that much is not free', async (t) => {
    const { bodies, call, passes, stopped } = server(t);
    const text = `[${'{},'.repeat(15_000)}{}]`;
    const filler = call(limit);
    await passes(0);
    const { request, end } = call(text.length);
    request.end(text);
    assert.equal(await end, 'CNI_GATE_BUSY');
    assert.deepEqual([stopped, bodies.inFlight], [['bodies'], largest]);
    filler.request.destroy();
    assert.deepEqual([await filler.end, bodies.inFlight], ['CNI_GATE_REVIEW_SYNTAX', 0]);
  });

  test('in chunks may be as large as is allowed, and no larger', async (t) => {
    const { call } = server(t);
    const ends = [limit, limit + 1].map((length) => {
      const { request, end } = call();
      request.write(`"${'x'.repeat(length - 2)}`);
      request.end('"');
      return end;
    });
    assert.deepEqual(await Promise.all(ends), ['answered', 'CNI_GATE_REVIEW_TOO_LARGE']);
  });
});

suite('while a call waits for memory', () => {
  for (const [who, holder, waiter, milliseconds] of [
    ['a body', false, false, 1000],
    ['a body of an unknown caller, where a known one waits,', false, true, 100],
    ['a body of a known caller', true, true, 1000],
  ] as const) {
    test(`${who} gives its memory back if it is not there after ${milliseconds} ms`, async (t) => {
      const { bodies, call, passes, stopped } = server(t);
      for (const round of [0, 1]) {
        const slow = call(limit, holder);
        await passes(5000);
        assert.equal(bodies.inFlight, largest, 'nobody waits');
        const first = call(limit, holder);
        assert.equal(await slow.end, 'CNI_GATE_BUSY', 'at once');
        await passes(0);
        const next = call(limit, waiter);
        await passes(milliseconds - 50);
        assert.equal(stopped.length, 2 * round + 1);
        await passes(100);
        assert.equal(await first.end, 'CNI_GATE_BUSY');
        next.request.end('1');
        assert.equal(await next.end, 'answered');
        assert.deepEqual([stopped.at(-1), stopped.length], ['slow-body', 2 * round + 2]);
      }
    });
  }

  test('the call is stopped after 2 s', async (t) => {
    const { call, passes, stopped } = server(t);
    const { promise, resolve } = Promise.withResolvers<string>();
    const first = call(2, false, () => promise);
    first.request.end('{}');
    const late = call(limit);
    await passes(1950);
    assert.deepEqual(stopped, []);
    await passes(50);
    assert.deepEqual([await late.end, stopped], ['CNI_GATE_BUSY', ['bodies']]);
    resolve('answered');
    assert.equal(await first.end, 'answered');
  });
});
