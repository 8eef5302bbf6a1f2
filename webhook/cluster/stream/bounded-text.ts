import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { slowJson } from '../../lib/json-cost.ts';

/** So many bytes of a text that is too long are kept: an object's name, UID and version stand in its first. */
const headBytes = 2048;

/** A text that comes in chunks, of which no more than a limit is kept. */
export class BoundedText {
  readonly #max: number;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #isCut = false;

  /** @param max bytes; of a longer text only the beginning is kept */
  constructor(max: number) {
    this.#max = max;
  }

  /** How long it is, whether it is kept or not. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Whether it is longer than the limit. */
  get isTooLong(): boolean {
    return this.#isCut;
  }

  /** Whether it is longer than the limit, or would take too long to parse. Ask once, when all of it has come. */
  isTooLarge(): boolean {
    return this.#isCut || slowJson(this.#joined()) !== undefined;
  }

  /** The whole text. @throws Error where {@link isTooLong} */
  get text(): string {
    if (this.#isCut) throw new Error(`${this.#bytes} bytes are more than the limit of ${this.#max}`);
    return this.#joined().toString();
  }

  /** The beginning, 2 KiB at most. */
  get head(): string {
    return this.#joined().subarray(0, headBytes).toString();
  }

  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#isCut) return;
    this.#chunks.push(chunk);
    if (this.#bytes <= this.#max) return;
    // a copy: a part of the joined buffer would keep all of it in memory
    this.#chunks = [Buffer.from(this.#joined().subarray(0, headBytes))];
    this.#isCut = true;
  }

  #joined(): Buffer {
    const [first, ...others] = this.#chunks;
    if (first !== undefined && others.length === 0) return first;
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [all];
    return all;
  }
}

const newline = 0x0a;

/**
 * The lines of a stream, each without its end. Of a line that is longer than the limit only the beginning is kept. Each
 * chunk has a turn of the event loop, so that admission calls are answered in between.
 *
 * @param max bytes of a line
 * @throws Error where the stream ends within a line
 */
export async function* linesOf(stream: Readable, max: number): AsyncGenerator<BoundedText, void, undefined> {
  let line = new BoundedText(max);
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, from)) {
      line.add(chunk.subarray(from, end));
      yield line;
      line = new BoundedText(max);
      from = end + 1;
    }
    if (from < chunk.length) line.add(chunk.subarray(from));
    await nextTurn();
  }
  if (line.bytes > 0) throw new Error('the stream ended within a line');
}
