import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { cniGate } from '../support/command.ts';
import { folderWith, namespaceOf, pod, unwrapped } from './support.ts';

const patch = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {replicas: 2}
`;

describe('a folder with a kustomization', () => {
  const files = {
    'app/kustomization.yaml': 'resources: [pod.yaml]\npatches: [{path: patches/web.yaml}]\n',
    'app/pod.yaml': pod('a'),
    'app/patches/web.yaml': patch,
    'other/pod.yaml': pod('b'),
  };

  test('is one error that says to render it; its patches are none, and other folders are read', (t) => {
    const folder = folderWith(t, files);
    const { status, stdout, stderr } = cniGate(['review', folder, '--profile', 'cilium']);
    assert.equal(status, 2);
    assert.deepEqual(stderr.replaceAll(folder, '').trimEnd().split('\n'), [
      'cni-gate: /app: the folder has a kustomization, so its files are not read: review what it renders with -k, or with `kustomize build` and -f - (CNI_GATE_INPUT_KUSTOMIZE)',
    ]);
    assert.match(stdout, /^injected Pod shop\/b /);
    assert.match(stdout, /^reviewed 1 workload: 1 injected, 0 refused$/m);
  });

  /** A folder with a program `kubectl`, for the PATH. */
  const kubectl = (t: Parameters<typeof folderWith>[0], script: string): NodeJS.ProcessEnv => {
    const bin = folderWith(t, { kubectl: `#!/bin/sh\n${script}\n` });
    chmodSync(join(bin, 'kubectl'), 0o755);
    return { ...process.env, PATH: `${bin}:/usr/bin:/bin` };
  };

  test('with -k: what kubectl kustomize renders is reviewed', (t) => {
    const folder = folderWith(t, files);
    const env = kubectl(t, `[ "$1 $2" = "kustomize ${folder}/app" ] && cat "$2/pod.yaml"`);
    const { status, stdout, stderr } = cniGate(['review', '-k', `${folder}/app`, '--profile', 'cilium'], {
      env,
    });
    assert.equal(status, 0, stderr);
    assert.ok(stdout.startsWith(`injected Pod shop/a (${folder}/app:1): cilium\n`), stdout);
  });

  test('with -k: a folder that cannot be rendered, and no program, are errors', (t) => {
    const folder = folderWith(t, files);
    const env = kubectl(t, 'echo "error: no such resource" >&2; exit 1');
    const failed = cniGate(['review', '-k', folder], { env });
    assert.equal(failed.status, 2);
    assert.match(
      failed.stderr,
      /: kubectl kustomize: error: no such resource \(CNI_GATE_INPUT_KUSTOMIZE\)\n$/,
    );
    const none = cniGate(['review', '-k', folder], { env: { ...process.env, PATH: '/nowhere' } });
    assert.equal(none.status, 2);
    assert.match(none.stderr, /expected the program kubectl or kustomize in the PATH/);
  });
});

test('files as arguments are read as with -f; without any, the usage is wrong', (t) => {
  const folder = folderWith(t, { 'a.yaml': pod('a'), 'b.yaml': pod('b'), 'c.yaml': pod('c') });
  const args = [
    'review',
    `${folder}/a.yaml`,
    `${folder}/b.yaml`,
    '-f',
    `${folder}/c.yaml`,
    '--profile',
    'cilium',
  ];
  const { status, stdout, stderr } = cniGate(args);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^reviewed 3 workloads: 3 injected/m);
  const none = cniGate(['review']);
  assert.equal(none.status, 2);
  assert.match(none.stderr, /expected a file or folder to review.*CNI_GATE_USAGE/);
});

test('folders whose names begin with a dot are read; .git, node_modules and ..data are not, and the output says so; a linked file once', (t) => {
  const folder = folderWith(t, { '.k8s/a.yaml': pod('a'), '..data/a.yaml': pod('d'), '.b.yaml': pod('b') });
  for (const skipped of ['.git', 'node_modules']) {
    mkdirSync(join(folder, skipped));
    writeFileSync(join(folder, skipped, 'x.yaml'), pod('x'));
  }
  symlinkSync(join(folder, '.k8s', 'a.yaml'), join(folder, 'linked.yaml'));
  symlinkSync(join(folder, '.k8s'), join(folder, 'again'));
  const { stdout, stderr } = cniGate(['review', folder, '--profile', 'cilium', '--output', 'json']);
  const { workloads, summary } = JSON.parse(stdout);
  assert.deepEqual(
    workloads.map(({ name }: { name: string }) => name),
    ['a'],
    stderr,
  );
  const notRead = ['.b.yaml', '.git', 'node_modules'].map((name) => join(folder, name));
  assert.deepEqual(summary.notRead, notRead);
  const text = cniGate(['review', folder, '--profile', 'cilium']).stdout.replaceAll(/\n {2,}/g, ' ');
  assert.ok(text.includes(`not read: ${notRead.join(', ')}\n`), text);
});

test('totals end with passed or failed', (t) => {
  const folder = folderWith(t, {
    'a.yaml': pod('a'),
    'b.yaml': pod('b').replace('metadata:', 'metadata:\n  labels: {cni-gate.io/profil: x}'),
  });
  for (const option of ['--summary', '--no-color']) {
    const last = (...args: string[]): string | undefined =>
      cniGate(['review', ...args, '--profile', 'cilium', option])
        .stdout.trimEnd()
        .split('\n')
        .at(-1);
    assert.equal(last(`${folder}/a.yaml`, '--strict'), 'passed');
    assert.equal(last(folder), 'passed');
    assert.equal(last(folder, '--strict'), 'failed');
  }
});

test('a workload that occurs twice says where the other is', (t) => {
  const folder = folderWith(t, {
    'a.yaml': `${namespaceOf('shop', 'cilium')}---\n${pod('a')}`,
    'b.yaml': `${pod('b')}---\n${pod('a')}---\n${pod('a', 'tools')}`,
  });
  const { stdout, status } = cniGate(['review', folder, '--profile', 'cilium', '--strict']);
  const notes = stdout.replaceAll(folder, '').match(/^ {2}note: .*/gm);
  assert.deepEqual(notes, [
    '  note: it occurs twice: also in /b.yaml:11',
    '  note: it occurs twice: also in /a.yaml:8',
  ]);
  const run = (...args: string[]): string =>
    cniGate(['review', folder, '--profile', 'cilium', ...args]).stdout.replaceAll(folder, '');
  assert.deepEqual(unwrapped(run('--summary')).match(/^note .*/gm), [
    'note Pod shop/a (/a.yaml:8): it occurs twice: also in /b.yaml:11',
    'note Pod shop/a (/b.yaml:11): it occurs twice: also in /a.yaml:8',
  ]);
  const { workloads } = JSON.parse(run('-o', 'json'));
  assert.deepEqual(
    workloads.map((one: { alsoIn?: string }) => one.alsoIn),
    ['/b.yaml:11', undefined, '/a.yaml:8', undefined],
  );
  assert.equal(status, 0);
});
