import type { TestEvent } from 'node:test/reporters';

/** A reporter for `node --test`: the paths of the test files that passed, a line each. A file that crashes is none of them. */
export default async function* passedFiles(source: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const event of source) {
    if (event.type !== 'test:summary') continue;
    const { file, success } = event.data;
    if (file !== undefined && success) yield `${file}\n`;
  }
}
