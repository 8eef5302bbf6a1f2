import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { listEnvelopeBytes } from '../lib/limits.ts';

/** So many bytes of a text that is too long are kept: an object's name, UID and version stand in its first. */
const headBytes = 2048;

/** JSON that comes in chunks, of which no more than a limit is kept. */
export class BoundedText {
  readonly #max: number;
  #chunks: Buffer[] = [];
  #bytes = 0;

  /** @param max bytes; of a longer text only the beginning is kept */
  constructor(max: number) {
    this.#max = max;
  }

  /** How long it is, whether it is kept or not. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The beginning, 2 KiB at most. */
  get head(): string {
    return Buffer.concat(this.#chunks).toString('utf8', 0, headBytes);
  }

  add(chunk: Buffer): void {
    // an empty part would keep its whole buffer in memory as well
    if (chunk.length === 0) return;
    if (this.#bytes <= this.#max) this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    // a copy: a part of a larger buffer would keep all of it in memory
    if (this.#bytes > this.#max) this.#chunks = [Buffer.from(this.head)];
  }

  /** All of it; undefined where it is longer than the limit. */
  text(): string | undefined {
    return this.#bytes > this.#max ? undefined : Buffer.concat(this.#chunks).toString();
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

const [quote, comma, backslash] = [0x22, 0x2c, 0x5c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Takes a list of the API apart while it comes: each of its items is handed on as a text of its own, so that never more
 * than one of them is in memory. Items are the objects in lists of the outermost object; the API has one such list.
 */
export class ListScanner {
  readonly #max: number;
  readonly #onItem: (item: BoundedText) => void;
  readonly #rest = new BoundedText(listEnvelopeBytes);
  #item: BoundedText | undefined;
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #inList = false;

  /** @param max bytes of an item; of a longer one only the beginning is kept */
  constructor(max: number, onItem: (item: BoundedText) => void) {
    this.#max = max;
    this.#onItem = onItem;
  }

  /** @throws what `onItem` throws */
  write(chunk: Buffer): void {
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (this.#inString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === backslash) this.#isEscaped = true;
        else if (byte === quote) this.#inString = false;
      } else if (byte === quote) {
        this.#inString = true;
      } else if (byte === openBrace || byte === openBracket) {
        this.#depth += 1;
        if (this.#depth === 2) this.#inList = byte === openBracket;
        if (this.#depth !== 3 || !this.#inList || byte === openBracket) continue;
        this.#rest.add(chunk.subarray(from, at));
        from = at;
        this.#item = new BoundedText(this.#max);
      } else if (byte === closeBrace || byte === closeBracket) {
        this.#depth -= 1;
        if (this.#item === undefined || this.#depth > 2) continue;
        this.#item.add(chunk.subarray(from, at + 1));
        from = at + 1;
        const item = this.#item;
        this.#item = undefined;
        this.#onItem(item);
      } else if (byte === comma && this.#inList && this.#depth === 2) {
        this.#rest.add(chunk.subarray(from, at));
        from = at + 1;
      }
    }
    (this.#item ?? this.#rest).add(chunk.subarray(from));
  }

  /** The list without its items. @throws Error where it is not JSON, or has more than 64 KiB */
  end(): unknown {
    const text = this.#rest.text();
    if (text === undefined)
      throw new Error(`more than ${listEnvelopeBytes} bytes beside the items of a list`);
    return JSON.parse(text);
  }
}
