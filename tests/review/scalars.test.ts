import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeYaml } from '../../webhook/lib/yaml.ts';
import { readYaml } from './support.ts';

/** What sigs.k8s.io/yaml makes of plain scalars. */
const cases: [text: string, value: unknown][] = [
  ['0644', 420],
  ['0o644', 420],
  ['08', 8],
  ['-0x1F', -31],
  ['0b101', 5],
  ['1_000', 1000],
  ['+5', 5],
  ['1.10', 1.1],
  ['1e3', 1000],
  ['.5', 0.5],
  ['1.', 1],
  ['yes', true],
  ['On', true],
  ['n', false],
  ['off', false],
  ['~', null],
  ['Null', null],
  ['', null],
  ['1:30', '1:30'],
  ['2026-11-21', '2026-11-21'],
  ['2026-11-21T10:00:00Z', '2026-11-21T10:00:00Z'],
  ['1.2.3', '1.2.3'],
  ['0o', '0o'],
  ['yEs', 'yEs'],
  ['"0644"', '0644'],
  ["'yes'", 'yes'],
  ['!!str 5', '5'],
  ['128Mi', '128Mi'],
];

test('plain scalars have the values of Kubernetes', () => {
  const text = cases.map(([plain], index) => `k${index}: ${plain}\n`).join('');
  assert.deepEqual(readYaml(text), Object.fromEntries(cases.map(([, value], index) => [`k${index}`, value])));
});

test('lines in quotes, brackets and braces may have any indentation', () => {
  const texts: [text: string, value: unknown][] = [
    [`a:\n  b: '{\n    "c": 1\n  }'\nd: 2\n`, { a: { b: '{ "c": 1 }' }, d: 2 }],
    ['a:\n  b: "one\ntwo\n\n\tthree\\\n"\nd: 2\n', { a: { b: 'one two\nthree' }, d: 2 }],
    ['a:\n- b: {c: 1,\n"e": [2,\n\t3\n]\n}\n- f\n', { a: [{ b: { c: 1, e: [2, 3] } }, 'f'] }],
  ];
  for (const [text, value] of texts) assert.deepEqual(readYaml(text), value, text);
  const tab = 'a:\n  b: [one,\n    two\n\t]\n';
  assert.throws(() => readYaml(tab), { message: 'a tab cannot indent a line', line: 3 });
});

test('in braces, a plain key needs a space after its colon, and a question mark needs quotes', () => {
  for (const text of ['{a:[ ]}', '{a:{b: c}}', '{a: 1, b:}', '[a:,b]']) {
    assert.throws(() => readYaml(text), { message: 'a space is missing after the colon of a key', line: 1 });
  }
  const cut = 'a text with a question mark in brackets or braces has to be in quotes';
  assert.throws(() => readYaml('a?: b?\nc: {d: http://e/?f=g}\n'), { message: cut, line: 2 });
  assert.deepEqual(readYaml(`{"a":[1], 'b':{c: d}, e:f, g: h:i}`), {
    a: [1],
    b: { c: 'd' },
    'e:f': null,
    g: 'h:i',
  });
});

test('any written text is read as the same value', () => {
  for (const text of [...cases.map(([plain]) => plain), '- a', '#', '1_0', '0b1', '.5_0', '=', '?', ': ']) {
    const value = { [`key ${text}`]: text, list: [text], inner: { [text === '' ? 'empty' : text]: text } };
    assert.deepEqual(readYaml(writeYaml(value)), value, writeYaml(value));
  }
});
