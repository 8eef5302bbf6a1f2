import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { readChunks } from '../../../webhook/kubernetes/exchange.ts';
import { linesOf } from '../../../webhook/kubernetes/stream/lines.ts';
import { streamTurn } from '../../../webhook/lib/limits.ts';

/** Work that keeps the event loop busy for so many milliseconds. */
function busy(milliseconds: number): void {
  const begun = performance.now();
  while (performance.now() - begun < milliseconds);
}

/** How many turns of the event loop there were until something was done. */
async function turnsUntil(done: Promise<unknown>): Promise<number> {
  let [turns, isOver] = [0, false];
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  await done;
  isOver = true;
  return turns;
}

/** A stream that has all of it at once. */
const arrived = (chunks: string[]): Readable => Readable.from(chunks.map((chunk) => Buffer.from(chunk)));

test('a list that has come at once is read in several turns', async () => {
  const response = arrived(Array(20).fill('x')) as IncomingMessage;
  let chunks = 0;
  const turns = await turnsUntil(
    readChunks(response, { timeout: 10_000 }, () => {
      chunks += 1;
      busy(streamTurn / 2);
    }),
  );
  assert.equal(chunks, 20);
  assert.ok(turns >= 4, `${turns} turns`);
});

test('events that have come in one piece are read in several turns, those of all watches together', async () => {
  const watch = async (): Promise<void> => {
    let lines = 0;
    for await (const { bytes } of linesOf(arrived(['{}\n'.repeat(10)]), 100)) {
      assert.equal(bytes, 2);
      lines += 1;
      busy(streamTurn / 2);
    }
    assert.equal(lines, 10);
  };
  const turns = await turnsUntil(Promise.all([watch(), watch()]));
  assert.ok(turns >= 4, `${turns} turns`);
});
