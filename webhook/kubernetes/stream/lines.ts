import type { Readable } from 'node:stream';
import { BoundedText } from './bounded-text.ts';
import { restOfTurn } from './share-of-turn.ts';

const newline = 0x0a;

/**
 * The lines of a stream, each without its end, in several turns of the event loop where whoever reads them takes long. Of a line that is longer than the limit only the beginning is kept.
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
      const rest = restOfTurn();
      if (rest) await rest;
      line = new BoundedText(max);
      from = end + 1;
    }
    if (from < chunk.length) line.add(chunk.subarray(from));
  }
  if (line.bytes > 0) throw new Error('the stream ended within a line');
}
