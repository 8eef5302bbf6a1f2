import { listEnvelopeBytes } from '../../lib/limits.ts';
import { BoundedText } from './bounded-text.ts';

const [quote, comma, backslash] = [0x22, 0x2c, 0x5c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];
const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/**
 * Takes a list of the API apart while it comes: each of its items is handed on as a text of its own, so that never more
 * than one of them is in memory. What is left of the list is small.
 */
export class ListScanner {
  readonly #max: number;
  readonly #onItem: (item: BoundedText) => void;
  readonly #envelope = new BoundedText(listEnvelopeBytes);
  #item: BoundedText | undefined;
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  #inItems = false;

  /** @param max bytes of an item; of a longer one only the beginning is kept */
  constructor(max: number, onItem: (item: BoundedText) => void) {
    this.#max = max;
    this.#onItem = onItem;
  }

  /** @throws Error where `items` has something else than objects, and what `onItem` throws */
  write(chunk: Buffer): void {
    let from = 0;
    /** Gives what comes before a place to whom it belongs. */
    const handOver = (to: number): void => {
      if (to > from) this.#give(chunk.subarray(from, to));
      from = to;
    };
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
        if (this.#inItems && this.#depth === 3) {
          handOver(at);
          this.#item = new BoundedText(this.#max);
        } else if (this.#depth === 2 && byte === openBracket) {
          handOver(at + 1);
          this.#inItems = this.#endsWithItems();
        }
      } else if (byte === closeBrace || byte === closeBracket) {
        this.#depth -= 1;
        if (this.#item !== undefined && this.#depth === 2) {
          handOver(at + 1);
          const item = this.#item;
          this.#item = undefined;
          this.#onItem(item);
        } else if (this.#inItems && this.#depth === 1) {
          handOver(at);
          this.#inItems = false;
        }
      }
    }
    handOver(chunk.length);
  }

  /** The list without its items. @throws Error where it is not JSON */
  end(): unknown {
    return JSON.parse(this.#envelope.text);
  }

  #give(part: Buffer): void {
    if (this.#item !== undefined) this.#item.add(part);
    else if (!this.#inItems) this.#envelope.add(part);
    else if (!part.every((byte) => byte === comma || isBlank(byte))) {
      throw new Error('the answer is not a list of objects');
    }
    if (this.#envelope.isTooLong)
      throw new Error(`a list with more than ${listEnvelopeBytes} bytes beside its items`);
  }

  /** Whether the bracket that was just taken opens the items. */
  #endsWithItems(): boolean {
    return /"items"\s*:\s*\[$/.test(this.#envelope.text);
  }
}
