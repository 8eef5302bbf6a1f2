/** How many bytes of an oversized object are kept: enough for its name, UID and version. */
const headBytes = 2048;

export interface ObjectText {
  text: string;
  /** Whether the object is larger than the limit, so that the text is only its beginning. */
  isCut: boolean;
}

/** How many braces and brackets are open where an object begins. */
const levels = { events: 1, list: 3 };

export type Layout = keyof typeof levels;

const [quote, backslash] = [0x22, 0x5c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Splits JSON into its objects while it arrives. At most one object is in memory, and only the beginning of an
 * oversized one: any tenant can create objects of 1.5 MB, so a page of a list may have any size.
 */
export class ObjectSplitter {
  readonly #max: number;
  readonly #level: number;
  /** The JSON of a list, with 0 in place of each item. */
  #rest = '';
  #object: Collector | undefined;
  #depth = 0;
  #inString = false;
  #isEscaped = false;

  /** @param max the maximum size, in bytes, of an object that is kept whole */
  constructor(layout: Layout, max: number) {
    this.#level = levels[layout];
    this.#max = max;
  }

  /**
   * Returns the objects that end in this chunk. In a watch, other text is returned too, so that the caller rejects it.
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
    return [];
  }

  /** @returns the list with 0 in place of each item @throws Error if the stream ended too early, or is not JSON */
  end(): unknown {
    if (this.#object !== undefined) throw new Error('the stream ended within an object');
    return this.#level === levels.list ? JSON.parse(this.#rest) : undefined;
  }
}

/** Collects the bytes of an object, but only the beginning of an oversized object. */
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
    // a copy, because a slice would keep the whole buffer in memory
    if (this.#bytes > this.#max) this.#chunks = [Buffer.from(this.text().text)];
  }

  text(): ObjectText {
    const isCut = this.#bytes > this.#max;
    return { text: Buffer.concat(this.#chunks).toString('utf8', 0, isCut ? headBytes : undefined), isCut };
  }
}
