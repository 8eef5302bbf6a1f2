import type { Readable } from 'node:stream';

/** An object is at most 3 MiB, and JSON may write a byte as six. */
const longestLine = 20 * 1024 * 1024;

/**
 * The lines of a stream, each without its end.
 *
 * @throws Error where the stream ends within a line, or a line is longer than any object
 */
export async function* linesOf(stream: Readable): AsyncGenerator<string, void, undefined> {
  let rest = '';
  for await (const chunk of stream.setEncoding('utf8') as AsyncIterable<string>) {
    let from = 0;
    for (let end = chunk.indexOf('\n'); end >= 0; end = chunk.indexOf('\n', from)) {
      yield rest + chunk.slice(from, end);
      rest = '';
      from = end + 1;
    }
    rest += chunk.slice(from);
    if (rest.length > longestLine) throw new Error(`a line of more than ${longestLine} characters`);
  }
  if (rest !== '') throw new Error('the stream ended within a line');
}
