import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { test } from 'node:test';
import { parsePolicy } from '../../webhook/config/load.ts';
import { writeYaml } from '../../webhook/lib/yaml.ts';
import { expand, largestYaml } from '../../webhook/review/input/read.ts';
import { folderWith } from '../support/folder.ts';
import { jsonListOfDeployments } from '../support/large-inputs.ts';
import { pod, type Reviewed, readYaml, reviewFiles, reviewNames, reviewText } from './support.ts';

/** The files that a name, folder or glob stands for, relative to the folder; or the message of the fault. */
const found = (folder: string, name: string): string[] =>
  expand(`${folder}/${name}`).map((one) =>
    typeof one === 'string'
      ? relative(folder, one)
      : `${relative(folder, one.file)}: ${one.message.replace(/, stat .*/, '')}`,
  );

test('files, folders and globs; a missing one is an error', (t) => {
  const hidden = { 'c/.hidden.yaml': '', '.git/x.yaml': '' };
  const read = { 'b.yaml': '', 'a.yml': '', '[x].yaml': '', 'c/d.json': '', 'c/e.txt': '' };
  const folder = folderWith(t, { ...hidden, ...read });
  const cases: [name: string, expected: string[]][] = [
    ['.', ['[x].yaml', 'a.yml', 'b.yaml', 'c/d.json']],
    // a file that is named explicitly is read, whatever its extension
    ['c/e.txt', ['c/e.txt']],
    ['*.y*ml', ['[x].yaml', 'a.yml', 'b.yaml']],
    ['**/d.{json,yaml}', ['c/d.json']],
    // an existing file with brackets in its name takes precedence
    ['[x].yaml', ['[x].yaml']],
    ['none.yaml', ['none.yaml: no such file or directory']],
    ['*.txt', ['*.txt: no file matches']],
  ];
  for (const [name, expected] of cases) assert.deepEqual(found(folder, name), expected);
});

test('a file that is named twice is read once', async (t) => {
  const folder = folderWith(t, { 'a.yaml': pod('a'), 'b.yaml': pod('b') });
  const { faults, reported } = await asked([
    join(folder, 'b.yaml'),
    folder,
    `${folder}/../${basename(folder)}/b.yaml`,
  ]);
  assert.deepEqual(faults, []);
  assert.deepEqual(
    reported,
    ['b', 'a'].map((name) => `injected profile-applies Pod shop/${name}`),
  );
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
      'CNI_GATE_INPUT_UNREADABLE there are no objects in the input',
    ],
  );
  assert.deepEqual(reported, ['injected profile-applies Pod shop/a']);
});

test('an empty input is an error, also beside others; in a folder or a glob, an empty file is not', async (t) => {
  const empty = 'there are no objects in the input';
  for (const text of ['', '# only this\n---\n---\n', 'null\n', 'kind: List\napiVersion: v1\nitems: []\n']) {
    const folder = folderWith(t, { 'in/empty.yaml': text, 'in/b.yaml': pod('b'), 'only/empty.yaml': text });
    const faults = async (...names: string[]): Promise<string[]> =>
      (await asked(names.map((name) => `${folder}/${name}`))).report.faults.map(
        ({ file, message }) => `${relative(folder, file)}: ${message}`,
      );
    assert.deepEqual(await faults('only'), [`only: ${empty}`], JSON.stringify(text));
    assert.deepEqual(await faults('in/b.yaml', 'in/empty.yaml'), [`in/empty.yaml: ${empty}`]);
    assert.deepEqual(await faults('in'), []);
    assert.deepEqual(await faults('in/*'), []);
  }
});

test('unreadable documents are errors with lines, and the others are reviewed', async (t) => {
  const namespace = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: one, ';
  const bad: [text: string, message: RegExp][] = [
    ['a: b: c\n', /^\d+: neither YAML nor JSON: Nested mappings are not allowed in compact mappings/],
    ['{"a": 1,, "b": 2}\n', /^\d+: neither YAML nor JSON: Unexpected , in flow map/],
    [
      'a: *b\n',
      /^\d+: neither YAML nor JSON: Unresolved alias \(the anchor must be set before the alias\): b/,
    ],
    ['<<: 1\n', /^\d+: neither YAML nor JSON: Merge sources must be maps/],
    ['a: &a [*a]\n', /^\d+: neither YAML nor JSON: an alias stands for a value that contains it$/],
    ['a: &a {<<: *a}\n', /^\d+: neither YAML nor JSON: Excessive alias count/],
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
    ['apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: {}}\n', /must be array$/],
    [
      `{"apiVersion":"v1","kind":"Pod","metadata":{},"spec":{"containers":[],"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}}\n`,
      /nested too deeply/,
    ],
    [
      'metadata: {{ toYaml .Values.x }}\n',
      /: a map cannot be a key; render a template first, for example with/,
    ],
    [
      'metadata:\n{% if x %}\n',
      /: neither YAML .*; render a template first, for example with helm template$/,
    ],
    [pod('a') + pod('b'), /: the key "kind" occurs twice: is a "---" missing before this manifest/],
    [
      `${namespace}labels: {a: 1.10}}\n`,
      /: Namespace one: expected a string in a, got a number; put it in quotes/,
    ],
    [`${namespace}x: y}\n`.replace('name: one, ', ''), /: a Namespace has no metadata\.name$/],
    [
      `${namespace}labels: {cni-gate.io/profile: a}}\n---\n${namespace}}\n`,
      /: Namespace one has a different label cni-gate\.io\/profile in /,
    ],
  ];
  for (const [text, message] of bad) {
    const document = `# one\n---\n${pod('before')}---\n${text}---\n${pod('after')}`;
    const { faults, reported } = await reviewText(t, document, { profile: 'cilium' });
    assert.equal(faults.length, 1, text.slice(0, 40));
    assert.match(faults[0] ?? '', message);
    const [where] = /^\d+/.exec(faults[0] ?? '') ?? [];
    // for some faults, the reported line is below the first line of the document
    assert.ok(Number(where) >= 13 && Number(where) <= 23, faults[0]);
    assert.deepEqual(reported, [
      'injected profile-applies Pod shop/before',
      'injected profile-applies Pod shop/after',
    ]);
  }
});

test('an error at the end of a text without a last newline is on the last line', async (t) => {
  assert.match((await reviewText(t, 'a: "b')).faults[0] ?? '', /^1: neither YAML nor JSON: Missing closing/);
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
  const space = ' '.repeat(largestYaml);
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
  const huge = `kind: ConfigMap\napiVersion: v1\ndata:\n  a: ${'x'.repeat(largestYaml)}\n`;
  const reviewed = await reviewText(t, `${pod('a')}---\n${huge}---\n${pod('b')}`, { profile: 'cilium' });
  assert.deepEqual(codes(reviewed), ['CNI_GATE_INPUT_TOO_LARGE']);
  assert.equal(reviewed.summary.injected, 2);
});

test('depth and what aliases stand for are bounded', async (t) => {
  const deep = (open: string, close = ''): string => `a: ${open.repeat(100_000)}${close.repeat(100_000)}\n`;
  const bomb = `a0: &a0 ${'x'.repeat(1000)}\n${Array.from({ length: 20 }, (_, i) => `a${i + 1}: &a${i + 1} {<<: {x: *a${i}, y: *a${i}}}\n`).join('')}`;
  const indented = Array.from({ length: 1500 }, (_, depth) => `${' '.repeat(depth)}a:\n`).join('');
  const dashes = `${'- '.repeat(100_000)}a\n`;
  for (const text of [deep('['), deep('[', ']'), deep('{a: '), deep('{a: ', '}'), indented, dashes, bomb]) {
    const reviewed = await reviewText(t, `${text}---\n${pod('a')}`, { profile: 'cilium' });
    assert.deepEqual(codes(reviewed), ['CNI_GATE_INPUT_SYNTAX'], text.slice(0, 40));
    assert.equal(reviewed.summary.injected, 1);
  }
});

const plain =
  '0644 0o644 08 -0x1F 0b101 1_000 +5 1.10 1e3 .5 1. yes On n off ~ Null 1:30 2026-11-21 1.2.3 0o yEs "0644" 128Mi';

test('plain scalars have the values of Kubernetes (more in tests/yaml)', () => {
  const numbers = [420, 420, 8, -31, 5, 1000, 5, 1.1, 1000, 0.5, 1];
  const others = [true, true, false, false, null, null, '1:30', '2026-11-21', '1.2.3', '0o', 'yEs'];
  const values = [...numbers, ...others, '0644', '128Mi'];
  assert.deepEqual(readYaml(`[${plain.replaceAll(' ', ', ')}]`), values);
});

test('any written text is read as the same value', () => {
  for (const text of [...plain.split(' '), '', '- a', '#', '.5_0', '=', '?', ': ']) {
    const value = { [`key ${text}`]: text, list: [text], inner: { [text === '' ? 'empty' : text]: text } };
    assert.deepEqual(readYaml(writeYaml(value)), value, writeYaml(value));
  }
});
