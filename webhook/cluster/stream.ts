import { listEnvelopeBytes } from '../lib/limits.ts';

/** Bytes kept of a larger object: enough for its name, UID and version. */
const headBytes = 2048;

export interface ObjectText {
  text: string;
  /** Whether the object is larger than the limit, and the text only its beginning. */
  isCut: boolean;
}

/** Depth of braces and brackets at which an object begins. */
const levels = { events: 1, list: 3 };

export type Layout = keyof typeof levels;

const [quote, backslash] = [0x22, 0x5c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Splits JSON into its objects while it arrives, so that at most one object is in memory, and of a large one only its
 * beginning. A page of a list has no bound of bytes: any tenant can create objects of 1.5 MB.
 */
export class ObjectSplitter {
  readonly #max: number;
  readonly #level: number;
  /** A list without its items, each of which is 0. */
  #rest = '';
  #object: Collector | undefined;
  #depth = 0;
  #inString = false;
  #isEscaped = false;

  /** @param max bytes of an object that is kept whole */
  constructor(layout: Layout, max: number) {
    this.#level = levels[layout];
    this.#max = max;
  }

  /**
   * The objects that end in the chunk. A watch with other text returns it as an object, which is no event.
   * @throws Error where a list has too much beside its items
   */
  write(chunk: Buffer): ObjectText[] {
    const objects: ObjectText[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (this.#inString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (byte === backslash) this.#isEscaped = true;
        else if (byte === quote) this.#inString = false;
      } else if (byte === quote) this.#inString = true;
      else if (byte === openBrace || byte === openBracket) {
        this.#depth += 1;
        if (this.#depth !== this.#level || byte === openBracket) continue;
        objects.push(...this.#beside(chunk.subarray(from, at), '0'));
        from = at;
        this.#object = new Collector(this.#max);
      } else if (byte === closeBrace || byte === closeBracket) {
        this.#depth -= 1;
        if (this.#object === undefined || this.#depth >= this.#level) continue;
        this.#object.add(chunk.subarray(from, at + 1));
        objects.push(this.#object.text());
        this.#object = undefined;
        from = at + 1;
      }
    }
    this.#object?.add(chunk.subarray(from));
    return this.#object === undefined ? [...objects, ...this.#beside(chunk.subarray(from))] : objects;
  }

  #beside(bytes: Buffer, place = ''): ObjectText[] {
    const text = bytes.toString('latin1');
    if (this.#level === levels.events) return text.trim() === '' ? [] : [{ text, isCut: false }];
    this.#rest += text + place;
    if (this.#rest.length <= listEnvelopeBytes) return [];
    throw new Error(`more than ${listEnvelopeBytes} bytes beside the items of a list`);
  }

  /** @returns a list, in which each item is 0 @throws Error where the stream ended too early, or is not JSON */
  end(): unknown {
    if (this.#object !== undefined) throw new Error('the stream ended within an object');
    return this.#level === levels.list ? JSON.parse(this.#rest) : undefined;
  }
}

/** Collects at most a limit of bytes. */
class Collector {
  readonly #max: number;
  #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(max: number) {
    this.#max = max;
  }

  add(chunk: Buffer): void {
    if (this.#bytes <= this.#max) this.#chunks.push(chunk);
    this.#bytes += chunk.length;
    // a copy: a part of a buffer keeps the whole buffer in memory
    if (this.#bytes > this.#max) this.#chunks = [Buffer.from(this.text().text)];
  }

  text(): ObjectText {
    const isCut = this.#bytes > this.#max;
    return { text: Buffer.concat(this.#chunks).toString('utf8', 0, isCut ? headBytes : undefined), isCut };
  }
}
