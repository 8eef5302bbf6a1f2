import type { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { BoundedText } from './bounded-text.ts';

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
