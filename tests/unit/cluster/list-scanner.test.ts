import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { type BoundedText, ListScanner, linesOf } from '../../../webhook/cluster/stream.ts';
import { listEnvelopeBytes } from '../../../webhook/lib/limits.ts';

function cut(text: string, size: number): Buffer[] {
  const all = Buffer.from(text);
  const pieces: Buffer[] = [];
  for (let at = 0; at < all.length; at += size) pieces.push(all.subarray(at, at + size));
  return pieces;
}

function scan(text: string, { max = 1e6, size = 64 * 1024 } = {}): { items: BoundedText[]; rest: unknown } {
  const items: BoundedText[] = [];
  const scanner = new ListScanner(max, (item) => items.push(item));
  for (const piece of cut(text, size)) scanner.write(piece);
  return { items, rest: scanner.end() };
}

suite('a list that is parsed while it arrives', () => {
  test('yields the same items and rest as parsing the whole, however it is cut', () => {
    const item = fc.dictionary(fc.string(), fc.jsonValue());
    const metadata = fc.record({ resourceVersion: fc.string(), items: fc.array(fc.integer()) });
    fc.assert(
      fc.property(
        fc.array(item),
        metadata,
        fc.integer({ min: 1, max: 99 }),
        fc.boolean(),
        (items, meta, size, isLast) => {
          const list = isLast ? { metadata: meta, items } : { items, metadata: meta, kind: 'L"[{' };
          const found = scan(JSON.stringify(list, null, size % 3), { size });
          assert.deepEqual(
            found.items.map((one) => JSON.parse(one.text() ?? '')),
            JSON.parse(JSON.stringify(items)),
          );
          assert.deepEqual(found.rest, JSON.parse(JSON.stringify({ ...list, items: [] })));
        },
      ),
    );
  });

  test('keeps only the beginning of an item over the limit, and continues with the next', () => {
    const large = { metadata: { name: 'large' }, data: 'x'.repeat(100_000) };
    const { items } = scan(JSON.stringify({ items: [large, { a: 1 }] }), { max: 5000, size: 1000 });
    assert.deepEqual(
      items.map((item) => item.text()),
      [undefined, '{"a":1}'],
    );
    assert.ok(items[0]?.head.startsWith('{"metadata":{"name":"large"}'));
    assert.equal(items[0]?.head.length, 2048);
  });

  test('leaves in the list what is no object', () => {
    assert.deepEqual(scan('{"items":[{},null]}').rest, { items: [null] });
  });

  test('limits what it keeps beside the items', () => {
    const metadata = { continue: 'x'.repeat(listEnvelopeBytes) };
    assert.throws(() => scan(JSON.stringify({ metadata, items: [] })), /bytes beside the items/);
  });
});

test('a line over the limit keeps only its beginning, and the next line is whole', async () => {
  const text = `${'a'.repeat(10_000)}\nb\n\nc\n`;
  for (const size of [1, 7, 4096, 20_000]) {
    const lines: BoundedText[] = [];
    for await (const line of linesOf(Readable.from(cut(text, size)), 5000)) lines.push(line);
    assert.deepEqual(
      lines.map((line) => line.text() ?? [line.bytes, line.head.length]),
      [[10_000, 2048], 'b', '', 'c'],
    );
  }
});
