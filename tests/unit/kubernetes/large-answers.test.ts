import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { readBody } from '../../../webhook/kubernetes/exchange.ts';
import { LargeAnswers } from '../../../webhook/kubernetes/stream/large-answers.ts';

const KiB = 1024;
const chunk = Buffer.alloc(64 * KiB, 'x');

/** An answer of so many chunks that tells how much of it was fetched. */
class Answer extends Readable {
  fetched = 0;
  readonly #chunks: number;
  readonly #last: Promise<void>;

  /** @param last before which the last chunk does not come */
  constructor(chunks: number, last = Promise.resolve()) {
    super();
    this.#chunks = chunks;
    this.#last = last;
  }

  override _read(): void {
    const next = this.fetched / chunk.length + 1;
    if (next > this.#chunks) {
      this.push(null);
      return;
    }
    void (next === this.#chunks ? this.#last : Promise.resolve()).then(() => {
      this.fetched += chunk.length;
      this.push(chunk);
    });
  }
}

const read = (answer: Answer, large: LargeAnswers, signal?: AbortSignal): Promise<string> =>
  readBody(answer as Readable as IncomingMessage, { timeout: 60_000, large, signal });

test('large answers are limited in parallel, and small ones pass', async () => {
  const large = new LargeAnswers(128 * KiB, 2);
  const held = Promise.withResolvers<void>();
  const first = [new Answer(100, held.promise), new Answer(100, held.promise)];
  const others = Array.from({ length: 20 }, () => new Answer(100));
  const reading = [...first, ...others].map((answer) => read(answer, large));
  assert.equal((await read(new Answer(2), large)).length, 128 * KiB);
  // until those that may be fetched are, but for their last chunk
  while (first.some(({ fetched }) => fetched < 99 * chunk.length)) await sleep(1);
  for (const { fetched } of others) assert.ok(fetched <= 320 * KiB, `${fetched} bytes`);
  held.resolve();
  for (const text of await Promise.all(reading)) assert.equal(text.length, 100 * chunk.length);
});

test('an aborted wait takes no turn from others', async () => {
  const large = new LargeAnswers(128 * KiB, 1);
  const held = Promise.withResolvers<void>();
  const first = read(new Answer(10, held.promise), large);
  const impatient = new AbortController();
  const given = read(new Answer(10), large, impatient.signal);
  const last = read(new Answer(10), large);
  setImmediate(() => impatient.abort(new Error('too late')));
  await assert.rejects(given, /too late/);
  held.resolve();
  assert.equal((await first).length, (await last).length);
});

test('an answer that breaks off returns its turn', async () => {
  const large = new LargeAnswers(128 * KiB, 1);
  const broken = new Answer(10, new Promise(() => {}));
  const failed = read(broken, large);
  while (broken.fetched < 9 * chunk.length) await sleep(1);
  broken.destroy(new Error('reset'));
  await assert.rejects(failed, /reset/);
  assert.equal((await read(new Answer(10), large)).length, 10 * chunk.length);
});
