import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { YamlNode } from '../../webhook/review/yaml/nodes.ts';
import { parseDocument } from '../../webhook/review/yaml/parser.ts';
import { YamlError } from '../../webhook/review/yaml/tokens.ts';
import { jsonValue } from '../../webhook/review/yaml/value.ts';

const valueOfFirst = (text: string): unknown => {
  const root = parseDocument(text);
  return root === undefined ? undefined : jsonValue(root);
};

test('the parser reads one document and ignores the text after its end', () => {
  assert.equal(valueOfFirst('# nothing\n'), undefined);
  assert.deepEqual(valueOfFirst('a: 1\n---\nb: [\n'), { a: 1 });
  assert.deepEqual(valueOfFirst('a: one\n  two\n...\n"\n'), { a: 'one two' });
  assert.deepEqual(valueOfFirst('a:\n  - 1\n---\nb\n'), { a: [1] });
});

test('a document marker inside quotes ends the document, and the quotes are an error', () => {
  for (const text of ['a: "one\n---\ntwo"\n', "a: 'one\n...\n'\n"]) {
    assert.throws(
      () => parseDocument(text),
      (error) => error instanceof YamlError && error.offset === 8,
    );
  }
});

test('positions are offsets of the text', () => {
  const text = 'a: &x !!str one\nb:\n  - "two"\n  - |\n    three\n\nc: {d: e}\nf:\n';
  const places: string[] = [];
  const walk = (node: YamlNode): void => {
    places.push(text.slice(node.start, node.end));
    if (node.kind === 'seq') node.items.forEach(walk);
    if (node.kind === 'map') {
      for (const { key, colon, value } of node.pairs) {
        walk(key);
        assert.equal(text[(colon ?? 0) - 1], ':');
        walk(value);
      }
    }
  };
  const root = parseDocument(text);
  assert.ok(root);
  walk(root);
  assert.deepEqual(places.slice(1), [
    'a',
    'one',
    'b',
    '- "two"\n  - |\n    three\n',
    '"two"',
    '|\n    three\n',
    'c',
    '{d: e}',
    'd',
    'e',
    'f',
    '',
  ]);
});
