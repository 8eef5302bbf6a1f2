import assert from 'node:assert/strict';
import { test } from 'node:test';
import { largestObject, mostObjects } from '../../webhook/review/input/limits.ts';
import { jsonListOfDeployments, listOfDeployments } from '../support/large-inputs.ts';
import { pod, type Reviewed, readYaml, reviewFiles, reviewText } from './support.ts';

const codes = ({ report }: Reviewed): string[] => report.faults.map((fault) => fault.code);

/** Comments behind which a List is too large to be read at once. */
const filler = `# ${'x'.repeat(200)}\n`.repeat(Math.ceil(largestObject / 200));
const many = 20;

test('a List above the limit of an object is read item by item, with the lines of the file', async (t) => {
  const list = listOfDeployments(many);
  const reviewed = await reviewText(t, list + filler, { profile: 'cilium' });
  assert.deepEqual(reviewed.faults, []);
  assert.equal(reviewed.summary.injected, many);
  const lines = list.split('\n');
  for (const { name, line } of reviewed.json().workloads) {
    assert.equal(lines[line - 1], '- apiVersion: apps/v1');
    assert.ok(lines.slice(line, line + 20).includes(`    name: ${name}`));
  }
  const output = reviewed.yaml();
  assert.match(output, /^apiVersion: v1\nitems:\n- apiVersion: apps\/v1\n/);
  assert.ok(output.endsWith(`\nkind: List\nmetadata:\n  resourceVersion: ""\n${filler}`));
  assert.doesNotMatch(output, /^---/m);
  // each workload gets the same lines, and nothing else has changed
  const small = (await reviewText(t, list, { profile: 'cilium' })).yaml();
  assert.deepEqual(readYaml(output.replace(filler, '')), readYaml(small));
});

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
  const item = listOfDeployments(2).replace('NewReplicaSetAvailable', 'x'.repeat(largestObject));
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
