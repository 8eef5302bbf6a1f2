import type { TestEvent } from 'node:test/reporters';
import { spec } from 'node:test/reporters';

/**
 * A reporter for `node --test`: a dot for each file as progress, then failures as `spec` prints them, and the counts.
 */
export default async function* summary(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failures = new spec();
  for await (const event of source) {
    if (event.type === 'test:summary' && event.data.file !== undefined) yield '.';
    if (event.type === 'test:fail' || event.type === 'test:stderr' || event.type === 'test:diagnostic') {
      failures.write(event);
    }
  }
  failures.end();
  yield '\n';
  for await (const text of failures) yield String(text);
}
