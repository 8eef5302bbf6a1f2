import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { type Layout, ObjectSplitter, type ObjectText } from '../../../webhook/cluster/stream.ts';

/** Splits a text, which arrives in chunks of `size` bytes, into its objects. */
function split(layout: Layout, text: string, { max = 1e6, size = 64 * 1024 } = {}) {
  const bytes = Buffer.from(text);
  const splitter = new ObjectSplitter(layout, max);
  const objects: ObjectText[] = [];
  for (let at = 0; at < bytes.length; at += size)
    objects.push(...splitter.write(bytes.subarray(at, at + size)));
  return { objects, rest: splitter.end() };
}

const parsed = (objects: ObjectText[]): unknown[] => objects.map(({ text }) => JSON.parse(text));

suite('an answer that is split while it arrives', () => {
  test('has the same objects as the whole answer, however it is split', () => {
    const values = fc.array(fc.dictionary(fc.string(), fc.jsonValue()));
    const metadata = fc.record({ resourceVersion: fc.stringMatching(/^[!-~]*$/), items: fc.array(fc.nat()) });
    fc.assert(
      fc.property(
        values,
        metadata,
        fc.integer({ min: 1, max: 99 }),
        fc.boolean(),
        (items, meta, size, isLast) => {
          const list = isLast ? { metadata: meta, items } : { items, metadata: meta, kind: 'L"[{' };
          const { objects, rest } = split('list', JSON.stringify(list, null, size % 3), { size });
          assert.deepEqual(parsed(objects), JSON.parse(JSON.stringify(items)));
          assert.deepEqual(rest, JSON.parse(JSON.stringify({ ...list, items: items.map(() => 0) })));
          const lines = items.map((item) => `${JSON.stringify(item)}\n`).join('');
          assert.deepEqual(
            parsed(split('events', lines, { size }).objects),
            JSON.parse(JSON.stringify(items)),
          );
        },
      ),
    );
  });

  for (const [layout, text] of [
    ['list', (objects: string) => `{"items":[${objects}]}`],
    ['events', (objects: string) => objects],
  ] as const) {
    test(`has only the beginning of an object over the limit, then the next (${layout})`, () => {
      const large = JSON.stringify({ metadata: { name: 'large' }, data: 'x'.repeat(10_000) });
      for (const size of [1, 7, 4096, 20_000]) {
        const { objects } = split(layout, text(`${large},{"a":1}`), { max: 5000, size });
        assert.deepEqual(
          objects.filter(({ text }) => text !== ','),
          [
            { text: large.slice(0, 2048), isCut: true },
            { text: '{"a":1}', isCut: false },
          ],
        );
      }
    });
  }

  test('must not end within an object', () => {
    assert.throws(() => split('events', '{"a":'), /ended within an object/);
  });
});
