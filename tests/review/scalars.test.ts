import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeYaml } from '../../webhook/lib/yaml.ts';
import { readYaml } from './support.ts';

/** Plain scalars, and the values that sigs.k8s.io/yaml reads from them. */
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

test('lines in quotes may have any indentation', () => {
  const texts: [text: string, value: unknown][] = [
    [`a:\n  b: '{\n    "c": 1\n  }'\nd: 2\n`, { a: { b: '{ "c": 1 }' }, d: 2 }],
    ['a:\n  b: "one\ntwo\n\n\tthree\\\n"\nd: 2\n', { a: { b: 'one two\nthree' }, d: 2 }],
  ];
  for (const [text, value] of texts) assert.deepEqual(readYaml(text), value, text);
});

test('any written text is read as the same value', () => {
  for (const text of [...cases.map(([plain]) => plain), '- a', '#', '1_0', '0b1', '.5_0', '=', '?', ': ']) {
    const value = { [`key ${text}`]: text, list: [text], inner: { [text === '' ? 'empty' : text]: text } };
    assert.deepEqual(readYaml(writeYaml(value)), value, writeYaml(value));
  }
});
