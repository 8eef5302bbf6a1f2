import { globSync } from 'node:fs';
import type { TestEvent } from 'node:test/reporters';
import { spec } from 'node:test/reporters';

/** Files on a line of progress. */
const filesPerLine = 20;

/** A time that a person reads: `40 s`, `3 min`. */
const duration = (ms: number): string =>
  ms < 90_000 ? `${Math.ceil(ms / 1000)} s` : `${Math.ceil(ms / 60_000)} min`;

/**
 * A reporter for `node --test PATTERN…`: progress, then failures as `spec` prints them, and the counts. Progress is a
 * dot for each file, and at the end of each line how many files are done and about how long the others take.
 */
export default async function* summary(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  const failures = new spec();
  const files = globSync(process.argv.slice(1)).length;
  const start = performance.now();
  let done = 0;
  yield `${files} test files\n`;
  for await (const event of source) {
    if (event.type === 'test:summary' && event.data.file !== undefined) {
      done++;
      yield '.';
      if (done % filesPerLine === 0 || done === files) {
        const elapsed = performance.now() - start;
        const left = done < files ? `, about ${duration((elapsed / done) * (files - done))} left` : '';
        yield ` ${done} of ${files} files, ${duration(elapsed)}${left}\n`;
      }
    }
    if (event.type === 'test:fail' || event.type === 'test:stderr' || event.type === 'test:diagnostic') {
      failures.write(event);
    }
  }
  failures.end();
  yield '\n';
  for await (const text of failures) yield String(text);
}
