import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CommanderError } from 'commander';
import { parseAllDocuments } from 'yaml';
import { CniGateError } from '../../webhook/lib/errors.ts';
import { cniGate } from '../support/command.ts';
import { folderWith } from '../support/folder.ts';
import { manifests } from './manifests.ts';
import { command, labelled, namespaceOf, pod } from './support.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const examples = join(root, 'examples');

const refused = labelled('a', 'nowhere');

test('the examples: every outcome occurs, also with --strict, and YAML has every document', async () => {
  const { status, output, messages } = await command('-f', examples, '--strict');
  assert.deepEqual([status, messages], [0, '']);
  for (const reported of [
    /^injected Deployment shop\/web \(\S*examples\/web\.yaml:\d+\): cilium$/m,
    /^injected Deployment shop\/checkout .*: cilium, linkerd$/m,
    /^injected StatefulSet shop\/db /m,
    /^injected CronJob reports\/report /m,
    /^injected Pod shop\/router .*: cilium, multus$/m,
    /^skipped DaemonSet shop\/node-exporter .*: host-network$/m,
    /^skipped Deployment legacy\/intranet .*: not-opted-in$/m,
    /^reviewed 7 workloads: 5 injected, 2 skipped \(not-opted-in 1, host-network 1\), 0 refused\n0 errors, 1 other object \(Service 1\)\npassed\n$/m,
  ]) {
    assert.match(output, reported);
  }
  assert.ok(!output.includes('\u001b'));
  const { output: yaml } = await command('-f', examples, '-o', 'yaml');
  const files = readdirSync(examples).toSorted();
  assert.equal(parseAllDocuments(yaml).length, files.length + 3);
});

test('exit codes and the last line: 0, 1 for a refusal and for a warning with --strict, 2 for unreadable input', async (t) => {
  const folder = folderWith(t, {
    'good.yaml': pod('good'),
    'refused.yaml': refused,
    'warned.yaml': labelled('a', 'none'),
    'broken.yaml': `${refused}---\na: b: c\n`,
    'config.yaml': 'apiVersion: cni-gate.io/v1alpha1\nkind: Configuration\nproof: {allowOptOut: false}\n',
  });
  const configured = ['--profile', 'cilium', '--config', join(folder, 'config.yaml')];
  for (const [file, status, ...more] of [
    ['good', 0, '--strict'],
    ['refused', 1],
    ['warned', 0],
    ['warned', 1, '--strict', '--summary'],
    ['broken', 2],
  ] as const) {
    const result = await command('-f', join(folder, `${file}.yaml`), ...configured, ...more);
    assert.equal(result.status, status, file);
    assert.ok(result.output.endsWith(status === 0 ? '\npassed\n' : '\nfailed\n'), result.output);
  }
});

test('--assume-meshed: the proof of the meshed pod without a warning, and YAML contains no proxy', async (t) => {
  const asking = { annotations: { 'linkerd.io/inject': 'enabled' } };
  const folder = folderWith(t, { 'a.yaml': manifests(['Namespace shop linkerd', asking]) });
  const { status, output, messages } = await command(folder, '-o', 'yaml', '--strict', '--assume-meshed');
  assert.deepEqual([status, messages], [0, '']);
  assert.match(output, /"profile":"linkerd"/);
  assert.doesNotMatch(output, /linkerd-proxy/);
});

test('wrong usage: the message says what is wrong', async () => {
  for (const [args, text] of [
    [[], /expected a file or folder to review/],
    [['-f', 'x', '-o', 'html'], /Allowed choices are text, json, yaml, junit, sarif, github, gitlab\./],
    [['-f', 'x', '--profile', 'nowhere'], /profile "nowhere" does not exist; the configuration has: /],
    [['-f', 'x', '--config', 'none.yaml'], /none\.yaml/],
    [['-f', 'x', '--summary', '-o', 'json'], /--summary is text, and cannot be combined with --output json/],
  ] as const) {
    await assert.rejects(command(...args), (error) => {
      assert.ok(error instanceof CommanderError || error instanceof CniGateError);
      assert.match(error.message, text);
      return true;
    });
  }
});

test('YAML output: standard output has only YAML, standard error has refusals and warnings', async (t) => {
  const folder = folderWith(t, { 'a.yaml': refused, 'b.yaml': labelled('b', 'cilium', 'profil') });
  for (const [word, ...more] of [['warning'], ['error', '--strict']] as const) {
    const { status, output, messages } = await command(folder, '--profile', 'cilium', '-o', 'yaml', ...more);
    assert.equal(status, 1);
    assert.ok(output.startsWith(`${refused}---\napiVersion`));
    const [first = '', second = ''] = messages.split('\n');
    assert.match(first, /^cni-gate: .*a\.yaml:1: error: Pod shop\/a: profile "nowhere" does not exist/);
    assert.match(
      second,
      new RegExp(`^cni-gate: .*b\\.yaml:4: ${word}: Pod shop/b: label .*\\(CNI_GATE_KEY_`),
    );
  }
});

suite('as a process', () => {
  test('standard input once beside files; a missing file is an error without a stack trace', (t) => {
    const folder = folderWith(t, { 'a.yaml': pod('a'), 'b.yaml': pod('b') });
    const files = [join(folder, 'a.yaml'), '-f', join(folder, 'b.yaml'), 'none.yaml', '-f', '-', '-f', '-'];
    const input = namespaceOf('shop', 'cilium');
    const { status, stdout, stderr } = cniGate(['review', ...files, '-o', 'json'], { input });
    const { summary } = JSON.parse(stdout);
    assert.deepEqual([status, summary.injected, summary.namespaces], [2, 2, 1]);
    assert.match(
      stderr,
      /^cni-gate: none\.yaml: error: no such file or directory \(CNI_GATE_INPUT_UNREADABLE\)\n$/,
    );
  });

  test('an empty standard input is an error beside a Namespace', (t) => {
    const file = join(folderWith(t, { 'a.yaml': namespaceOf('shop', 'cilium') }), 'a.yaml');
    const { status, stderr } = cniGate(['review', '-f', file, '-f', '-', '--strict'], { input: '' });
    assert.equal(status, 2);
    assert.equal(
      stderr,
      'cni-gate: stdin: error: there are no objects in the input (CNI_GATE_INPUT_UNREADABLE)\n',
    );
  });

  test('a closed output pipe is not an error, a full disk is one', () => {
    const input = Array.from({ length: 200 }, (_, index) => pod(`pod-${index}`)).join('---\n');
    const reviewed = (rest: string) => {
      const script = `"${process.execPath}" webhook/main.ts review -f - --profile cilium ${rest}; echo "$PIPESTATUS"`;
      const { stdout, stderr } = spawnSync('bash', ['-c', script], { cwd: root, input, encoding: 'utf8' });
      return [stdout, stderr];
    };
    const first = 'injected Pod shop/pod-0 (stdin:1): cilium';
    assert.deepEqual(reviewed('| head -n 1'), [`${first}\n0\n`, '']);
    const message = 'cni-gate: cannot write the output: ENOSPC: no space left on device, write\n';
    assert.deepEqual(reviewed('>/dev/full'), ['2\n', message]);
  });

  test('an endless input: exit code 2, no exhausted memory; neither the server nor the Kubernetes client is loaded', () => {
    const watch = `import { registerHooks } from 'node:module';
      registerHooks({ resolve(name, context, next) {
        const found = next(name, context);
        if (/node_modules\\/(fastify|pino|prom-client|@kubernetes)\\//.test(found.url)) console.error(found.url);
        return found;
      } });`;
    const options = `--max-old-space-size=100 --import=data:text/javascript,${encodeURIComponent(watch)}`;
    const { status, stderr } = cniGate(['review', '-f', '/dev/zero'], {
      env: { ...process.env, NODE_OPTIONS: options },
    });
    assert.equal(status, 2, stderr);
    assert.match(stderr, /^cni-gate: \/dev\/zero: error: review accepts .* \(CNI_GATE_INPUT_TOO_LARGE\)\n$/);
  });
});
