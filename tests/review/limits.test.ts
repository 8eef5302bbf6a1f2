import assert from 'node:assert/strict';
import { test } from 'node:test';
import { largestObject, mostObjects } from '../../webhook/review/input/documents.ts';
import { jsonListOfDeployments } from '../support/large-inputs.ts';
import { pod, type Reviewed, reviewFiles, reviewText } from './support.ts';

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
  const item = jsonListOfDeployments(2).replace('--listen', 'x'.repeat(largestObject));
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
