import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { cniGate } from '../support/command.ts';
import { folderWith, namespaceOf, pod, unwrapped } from './support.ts';

test('a wrong label of a pod template: the refusal is at the label in every output', (t) => {
  const template = 'template:\n    metadata:\n      labels: {app: a, cni-gate.io/profile: istoi}\n    spec:';
  const body = `spec:\n  ${template}\n      containers: [{name: app, image: app:1}]\n`;
  const text = `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n${body}`;
  const file = join(folderWith(t, { 'a.yaml': `${namespaceOf('shop', 'cilium')}---\n${text}` }), 'a.yaml');
  const output = (form: string): string =>
    cniGate(['review', file, '-o', form], { env: { ...process.env, GITHUB_WORKSPACE: '/' } }).stdout;
  assert.ok(output('text').includes(`refused Deployment shop/web (${file}:14)`));
  const [workload] = JSON.parse(output('json')).workloads;
  assert.deepEqual([workload.line, workload.messageLine], [8, 14]);
  const [result] = JSON.parse(output('sarif')).runs[0].results;
  assert.equal(result.locations[0].physicalLocation.region.startLine, 14);
  assert.match(output('github'), /,line=14::/);
  assert.match(output('junit'), /name="Deployment shop\/web" [^>]*line="14"/);
  assert.ok(
    cniGate(['review', file, '--summary']).stdout.includes(`refused Deployment shop/web (${file}:14)`),
  );
});

describe('a wrong label of a Namespace', () => {
  const wrong = namespaceOf('shop', 'cillium');
  const text = [wrong, pod('a'), pod('b'), pod('c')].join('---\n');
  const message = /^profile "cillium" does not exist.*: all 3 workloads .* are refused$/;

  for (const option of ['--no-color', '--summary']) {
    test(`with ${option}: one error at the label, which counts`, (t) => {
      const file = join(folderWith(t, { 'a.yaml': text }), 'a.yaml');
      const { stdout, status } = cniGate(['review', file, option]);
      const lines = unwrapped(stdout).replaceAll(`${file}:`, '').split('\n');
      assert.equal(lines.filter((line) => line.includes('"cillium" does not exist')).length, 1);
      assert.match(stdout.replaceAll(file, 'f'), /^error Namespace shop \(f:6\): profile "cillium"/m);
      assert.match(stdout, /^1 error, 0 warnings, 0 other objects$/m);
      assert.match(cniGate(['review', file, option, '--strict']).stdout, /^1 error, 0 other objects$/m);
      assert.equal(status, 1);
      if (option === '--summary') return;
      assert.equal(lines[0], 'refused Pod shop/a (8): the label of Namespace shop (6)');
    });
  }

  test('in JSON and JUnit: one finding', (t) => {
    const file = join(folderWith(t, { 'a.yaml': text }), 'a.yaml');
    const { findings, summary } = JSON.parse(cniGate(['review', file, '-o', 'json']).stdout);
    assert.deepEqual([findings.length, summary.findings, findings[0].line], [1, 1, 6]);
    assert.match(findings[0].message, message);
    const junit = cniGate(['review', file, '-o', 'junit']).stdout;
    assert.match(junit, /<testcase name="Namespace shop" [^>]*line="6">\s*<failure /);
    const { stderr } = cniGate(['review', file, '-o', 'yaml']);
    assert.deepEqual(stderr.match(/"cillium" does not exist/g)?.length, 1);
  });
});
