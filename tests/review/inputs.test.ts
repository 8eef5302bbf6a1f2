import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { parsePolicy } from '../../webhook/config/load.ts';
import { writeYaml } from '../../webhook/lib/yaml.ts';
import { largestObject, mostObjects } from '../../webhook/review/input/documents.ts';
import { expandInputs } from '../../webhook/review/input/files.ts';
import { jsonListOfDeployments } from '../support/large-inputs.ts';
import { folderWith, pod, type Reviewed, readYaml, reviewFiles, reviewNames, reviewText } from './support.ts';

/** The expanded inputs, relative to the folder; a fault is shown as its message. */
const found = (folder: string, names: string[]): string[] =>
  expandInputs(names.map((name) => join(folder, name))).map((one) =>
    typeof one === 'string'
      ? relative(folder, one)
      : `${relative(folder, one.file)}: ${one.message.replace(/, stat .*/, '')}`,
  );

const files = {
  'b.yaml': '',
  'a.yml': '',
  'c/d.json': '',
  'c/e.txt': '',
  'c/.hidden.yaml': '',
  '.git/x.yaml': '',
};

test('named files are read whatever their extension, each once, in the order of the arguments', (t) => {
  const folder = folderWith(t, files);
  assert.deepEqual(found(folder, ['c/e.txt', 'b.yaml', '.', 'c/../b.yaml']), [
    'c/e.txt',
    'b.yaml',
    'a.yml',
    'c/d.json',
  ]);
});

test('globs are sorted; an existing file with brackets in its name takes precedence', (t) => {
  const folder = folderWith(t, { ...files, '[x].yaml': '' });
  assert.deepEqual(found(folder, ['*.y*ml']), ['[x].yaml', 'a.yml', 'b.yaml']);
  assert.deepEqual(found(folder, ['**/d.{json,yaml}', '[x].yaml']), ['c/d.json', '[x].yaml']);
});

test('a missing input is an error, and the rest is read', (t) => {
  const folder = folderWith(t, { 'a.yaml': '', 'empty/x.txt': '' });
  assert.deepEqual(found(folder, ['none.yaml', 'a.yaml', '*.yml', 'empty']), [
    'none.yaml: no such file or directory',
    'a.yaml',
    '*.yml: no file matches',
    'empty: the folder contains no .yaml, .yml or .json file (skipped are node_modules and names that begin with a dot)',
  ]);
});

const asked = (names: string[]): Promise<Reviewed> =>
  reviewNames({ names, namespace: 'x', policy: parsePolicy(), profile: 'cilium' });

test('binary files are an error', async (t) => {
  const folder = folderWith(t, { 'nul.yaml': 'a: \0', 'ok.yaml': pod('a') });
  writeFileSync(join(folder, 'bytes.yaml'), Buffer.from([0x61, 0xff]));
  mkdirSync(join(folder, 'sub'));
  const { report, reported } = await asked([folder, join(folder, 'sub')]);
  assert.deepEqual(
    report.faults.map(({ code, message }) => `${code} ${message}`),
    [
      'CNI_GATE_INPUT_UNREADABLE expected UTF-8 text, found other bytes: is it binary, or UTF-16?',
      'CNI_GATE_INPUT_UNREADABLE expected UTF-8 text, found other bytes: is it binary, or UTF-16?',
      'CNI_GATE_INPUT_UNREADABLE the folder contains no .yaml, .yml or .json file (skipped are node_modules and names that begin with a dot)',
    ],
  );
  assert.deepEqual(reported, ['injected profile-applies Pod shop/a']);
});

test('an empty input is an error', async (t) => {
  for (const text of ['', '# only this\n---\n---\n', 'null\n']) {
    const { faults } = await reviewText(t, text);
    assert.deepEqual(faults, ['undefined: there are no objects in the input'], JSON.stringify(text));
  }
});

test('unreadable documents are errors with lines, and the others are reviewed', async (t) => {
  const nested = (open: string, close: string) => `a: ${open.repeat(20_000)}${close.repeat(20_000)}\n`;
  const bomb = `a0: &a0 [x]\n${Array.from({ length: 9 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i}, `.repeat(9)}]\n`).join('')}`;
  const bad: [text: string, message: RegExp][] = [
    ['a: b: c\n', /^\d+: neither YAML nor JSON: Nested mappings are not allowed in compact mappings/],
    ['{"a": 1,, "b": 2}\n', /^\d+: neither YAML nor JSON: Unexpected , in flow map/],
    [
      'a: *b\n',
      /^\d+: neither YAML nor JSON: Unresolved alias \(the anchor must be set before the alias\): b/,
    ],
    ['<<: 1\n', /^\d+: neither YAML nor JSON: Merge sources must be maps/],
    [nested('[', ']'), /^\d+: nested too deeply: more than 200 levels/],
    [bomb, /^\d+: the aliases stand for too many values/],
    ['a: &a [*a]\n', /^\d+: neither YAML nor JSON: an alias stands for a value that contains it$/],
    ['a: &a {<<: *a}\n', /^\d+: the aliases stand for .* a map into which they are merged$/],
    ['hello\n', /^\d+: expected a Kubernetes object, got a string/],
    ['- 1\n- 2\n', /^\d+: expected a Kubernetes object, got a list/],
    ['kind: Pod\n', /^\d+: a Pod has no apiVersion/],
    [
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\n',
      /Deployment default\/a: expected a pod template in spec\.template, got nothing/,
    ],
    [
      'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: 1}\n',
      /Pod default\/a: spec\.containers must be array, is 1/,
    ],
    [
      `{"apiVersion":"v1","kind":"Pod","metadata":{},"spec":{"containers":[],"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}}\n`,
      /nested too deeply/,
    ],
  ];
  let line = 1;
  for (const [text, message] of bad) {
    const document = `# ${line}\n---\n${pod('before')}---\n${text}---\n${pod('after')}`;
    const { faults, reported } = await reviewText(t, document, { profile: 'cilium' });
    assert.equal(faults.length, 1, text.slice(0, 40));
    assert.match(faults[0] ?? '', message);
    const [where] = /^\d+/.exec(faults[0] ?? '') ?? [];
    // the fault of the aliases is reported some lines further down than the others
    assert.ok(Number(where) >= 13 && Number(where) <= 22, faults[0]);
    assert.deepEqual(reported, [
      'injected profile-applies Pod shop/before',
      'injected profile-applies Pod shop/after',
    ]);
    line += 1;
  }
});

test('names that begin with a dot, links to folders and node_modules are skipped in folders', async (t) => {
  const folder = folderWith(t, {
    '.k8s/a.yaml': pod('a'),
    '..data/a.yaml': pod('d'),
    '.b.yaml': pod('b'),
    'node_modules/x.yaml': pod('x'),
  });
  symlinkSync(join(folder, '.k8s', 'a.yaml'), join(folder, 'linked.yaml'));
  symlinkSync(join(folder, '.k8s'), join(folder, 'again'));
  assert.deepEqual((await asked([folder])).reported, ['injected profile-applies Pod shop/a']);
});

test('a folder with a kustomization is one error that says to render it; other folders are read', async (t) => {
  const folder = folderWith(t, {
    'app/kustomization.yaml': 'resources: [pod.yaml]\npatches: [{path: patches/web.yaml}]\n',
    'app/pod.yaml': pod('a'),
    'app/patches/web.yaml': 'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n',
    'other/pod.yaml': pod('b'),
  });
  const { faults, reported } = await asked([folder]);
  assert.equal(faults.length, 1);
  assert.match(faults[0] ?? '', /the folder has a kustomization, so its files are not read: .* kustomize/);
  assert.deepEqual(reported, ['injected profile-applies Pod shop/b']);
});

const codes = ({ report }: Reviewed): string[] => report.faults.map((fault) => fault.code);

const many = 20;

test('a JSON List above the limit is read, and stays JSON', async (t) => {
  const space = ' '.repeat(largestObject);
  const list = jsonListOfDeployments(many).replace(/^/, space);
  const reviewed = await reviewFiles(t, { 'a.json': list }, { profile: 'cilium' });
  assert.deepEqual(reviewed.faults, []);
  const { items, kind } = JSON.parse(reviewed.yaml());
  assert.equal(kind, 'List');
  const names = items.map((item: Deployment) => item.spec.template.spec.initContainers[0]?.name);
  assert.deepEqual(names, Array(many).fill('cni-gate-validator'));
});

interface Deployment {
  spec: { template: { spec: { initContainers: { name: string }[] } } };
}

test('a document beyond the limit is an error with a code, and the others are reviewed', async (t) => {
  const huge = `kind: ConfigMap\napiVersion: v1\ndata:\n  a: ${'x'.repeat(largestObject)}\n`;
  const reviewed = await reviewText(t, `${pod('a')}---\n${huge}---\n${pod('b')}`, { profile: 'cilium' });
  assert.deepEqual(codes(reviewed), ['CNI_GATE_INPUT_TOO_LARGE']);
  assert.equal(reviewed.summary.injected, 2);
  const item = jsonListOfDeployments(2).replace('SETTING_0', 'x'.repeat(largestObject));
  const list = await reviewText(t, item, { profile: 'cilium' });
  assert.deepEqual(codes(list), ['CNI_GATE_INPUT_TOO_LARGE']);
  assert.equal(list.summary.injected, 1);
});

test('depth, aliases and the number of documents are bounded', async (t) => {
  const deep = (open: string, close = ''): string => `a: ${open.repeat(100_000)}${close.repeat(100_000)}\n`;
  const bomb = `a0: &a0 ${'x'.repeat(1000)}\n${Array.from({ length: 20 }, (_, i) => `a${i + 1}: &a${i + 1} {<<: {x: *a${i}, y: *a${i}}}\n`).join('')}`;
  const indented = Array.from({ length: 1500 }, (_, depth) => `${' '.repeat(depth)}a:\n`).join('');
  const dashes = `${'- '.repeat(100_000)}a\n`;
  for (const text of [deep('['), deep('[', ']'), deep('{a: '), deep('{a: ', '}'), indented, dashes, bomb]) {
    const reviewed = await reviewText(t, `${text}---\n${pod('a')}`, { profile: 'cilium' });
    assert.deepEqual(codes(reviewed), ['CNI_GATE_INPUT_TOO_LARGE'], text.slice(0, 40));
    assert.equal(reviewed.summary.injected, 1);
  }
  for (const text of ['---\n'.repeat(1_000_000), `[${'{},'.repeat(500_000)}{}]`]) {
    const reviewed = await reviewText(t, text);
    const reported = codes(reviewed).filter((code) => code === 'CNI_GATE_INPUT_TOO_LARGE');
    assert.equal(reported.length, 1);
    assert.ok(reviewed.faults.length <= mostObjects + 1);
  }
});

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
