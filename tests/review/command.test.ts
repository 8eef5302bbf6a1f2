import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { CommanderError } from 'commander';
import { parse, parseAllDocuments } from 'yaml';
import { reviewCommand } from '../../webhook/commands/review.ts';
import { CniGateError } from '../../webhook/lib/errors.ts';
import { cniGate, type Ended } from '../support/command.ts';
import { recorded } from '../support/reviews.ts';
import { folderWith, namespaceOf, pod } from './support.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Runs `cni-gate review` on standard input. */
const reviewed = (input: string, ...args: string[]): Ended =>
  cniGate(['review', '-f', '-', ...args], { input });

const refused = pod('a').replace('metadata:', 'metadata:\n  labels: {cni-gate.io/profile: nowhere}');
const warned = pod('a').replace('metadata:', 'metadata:\n  labels: {cni-gate.io/profile: none}');

test('the examples: exit code 0, and every outcome occurs', () => {
  const { status, stdout, stderr } = cniGate(['review', '-f', 'examples/'], { cwd: root });
  assert.equal(stderr, '');
  assert.equal(status, 0);
  for (const reported of [
    /^injected Deployment shop\/web \(examples\/web\.yaml:\d+\): cilium$/m,
    /^injected Deployment shop\/checkout .*: cilium, linkerd$/m,
    /^injected StatefulSet shop\/db /m,
    /^injected CronJob reports\/report /m,
    /^injected Pod shop\/router .*: cilium, multus$/m,
    /^skipped DaemonSet shop\/node-exporter .*: host-network$/m,
    /^skipped Deployment legacy\/intranet .*: not-opted-in$/m,
    /^reviewed 7 workloads: 5 injected, 2 skipped \(not-opted-in 1, host-network 1\), 0 refused\n0 warnings, 1 other object \(Service 1\)$/m,
  ]) {
    assert.match(stdout, reported);
  }
  assert.ok(!stdout.includes('\u001b'));
});

test('the examples as YAML: every line stays, except the expanded alias', () => {
  const { status, stdout } = cniGate(['review', '-f', 'examples', '-o', 'yaml'], { cwd: root });
  assert.equal(status, 0);
  const files = readdirSync(join(root, 'examples')).toSorted();
  const texts = files.map((file) => readFileSync(join(root, 'examples', file), 'utf8'));
  const lines = stdout.split('\n');
  let at = 0;
  for (const line of texts.join('---\n').split('\n')) {
    if (line.trim() === 'labels: *labels') continue;
    const next = lines.indexOf(line, at);
    assert.ok(next >= 0, `${line} is lost`);
    at = next + 1;
  }
  assert.equal(parseAllDocuments(stdout).length, files.length + 3);
});

test('exit codes: 1 for a refusal, 2 for unreadable input', () => {
  assert.equal(reviewed(refused, '--profile', 'cilium').status, 1);
  const { status, stdout, stderr } = reviewed(`${refused}---\na: b: c\n`, '--profile', 'cilium');
  assert.equal(status, 2);
  assert.match(stderr, /^cni-gate: stdin:12:4: neither YAML nor JSON: .*\(CNI_GATE_INPUT_SYNTAX\)\n$/);
  assert.match(stdout, /^refused Pod shop\/a/);
});

test('--strict: exit code 1 for a warning', (t) => {
  const folder = folderWith(t, {
    'config.yaml': 'apiVersion: cni-gate.io/v1alpha1\nkind: Configuration\nproof: {allowOptOut: false}\n',
  });
  const args = ['--profile', 'cilium', '--config', join(folder, 'config.yaml')];
  assert.equal(reviewed(warned, ...args).status, 0);
  assert.equal(reviewed(warned, ...args, '--strict').status, 1);
});

test("a pod without its mesh's proxy: --strict fails, --assume-meshed passes, and YAML contains no proxy", () => {
  const asking = pod('a').replace('metadata:', 'metadata:\n  annotations: {linkerd.io/inject: enabled}');
  const input = [namespaceOf('shop', 'linkerd'), asking].join('---\n');
  const waiting =
    /^cni-gate: stdin:8: (warning|error): Pod shop\/a: requests linkerd .*CNI_GATE_PROXY_MISSING\)$/m;
  const lenient = reviewed(input, '-o', 'yaml');
  assert.equal(lenient.status, 0);
  assert.equal(waiting.exec(lenient.stderr)?.[1], 'warning');
  assert.doesNotMatch(lenient.stdout, /initContainers|linkerd-proxy/);
  const strict = reviewed(input, '-o', 'yaml', '--strict');
  assert.equal(strict.status, 1);
  assert.equal(waiting.exec(strict.stderr)?.[1], 'error');
  const assumed = reviewed(input, '-o', 'yaml', '--strict', '--assume-meshed');
  assert.equal(assumed.status, 0);
  assert.equal(assumed.stderr, '');
  assert.match(assumed.stdout, /"profile":"linkerd"/);
  assert.doesNotMatch(assumed.stdout, /linkerd-proxy/);
});

test('the examples pass --strict', () => {
  const { status, stderr } = cniGate(['review', '-f', 'examples/', '--strict'], { cwd: root });
  assert.deepEqual([status, stderr], [0, '']);
});

test('wrong usage: the message says what is wrong', async () => {
  for (const [args, text] of [
    [[], /expected a file or folder to review/],
    [['-f', 'x', '-o', 'html'], /Allowed choices are text, json, yaml, junit, sarif, github, gitlab\./],
    [['-f', 'x', '--profile', 'nowhere'], /profile "nowhere" does not exist; the configuration has: /],
    [['-f', 'x', '--config', 'none.yaml'], /none\.yaml/],
    [['-f', 'x', '--profile', 'cilium', '--server', 'https://x'], /cannot be used with option '--profile/],
    [['-f', 'x', '--config', 'x', '--server', 'https://x'], /cannot be used with option '--config/],
    [['-f', 'x', '--server', 'http://localhost'], /expected a URL such as https:/],
    [['-f', 'x', '--timeout', '10'], /expected a duration such as/],
    [['-f', 'x', '--ca', 'x'], /--ca goes with --server/],
    [['-f', 'x', '--assume-meshed', '--server', 'https://x'], /cannot be used with option '--server/],
  ] as const) {
    const command = reviewCommand()
      .exitOverride()
      .configureOutput({ writeErr: () => {} });
    await assert.rejects(command.parseAsync(args, { from: 'user' }), (error) => {
      assert.ok(error instanceof CommanderError || error instanceof CniGateError);
      assert.match(error.message, text);
      return true;
    });
  }
});

test('wrong usage and a missing input: exit code 2 without a stack', () => {
  for (const [args, text] of [
    [['-f', 'x', '--profile', 'nowhere'], /^cni-gate: .*\(CNI_GATE_PROFILE_UNKNOWN\)$/m],
    [['-f', 'none.yaml'], /^cni-gate: none\.yaml: no such file or folder \(CNI_GATE_INPUT_UNREADABLE\)$/m],
  ] as const) {
    const { status, stderr } = cniGate(['review', ...args]);
    assert.equal(status, 2, args.join(' '));
    assert.match(stderr, text);
    assert.doesNotMatch(stderr, /\n {4}at /);
  }
});

test('-f: several times, with several names, and - once', (t) => {
  const folder = folderWith(t, { 'a.yaml': pod('a'), 'b.yaml': pod('b') });
  const args = ['-f', join(folder, 'a.yaml'), join(folder, 'b.yaml'), '-f', '-', '-f', '-', '-o', 'json'];
  const { stdout } = cniGate(['review', ...args], { input: namespaceOf('shop', 'cilium') });
  const { summary, workloads } = JSON.parse(stdout);
  assert.deepEqual([summary.injected, summary.namespaces], [2, 1]);
  assert.deepEqual(
    workloads.map((one: { name: string }) => one.name),
    ['a', 'b'],
  );
});

test('YAML output: standard output has only YAML, standard error has refusals and warnings', () => {
  const { status, stdout, stderr } = reviewed(refused, '--profile', 'cilium', '-o', 'yaml');
  assert.equal(status, 1);
  assert.deepEqual(parse(stdout), parse(refused));
  assert.match(stderr, /^cni-gate: stdin:4: refused: profile "nowhere" does not exist/);
});

test('AdmissionReviews as input: answers on standard output, other objects counted on standard error', () => {
  const input = ['binding-meshed', 'pod-meshed'].map((name) => JSON.stringify(recorded(name))).join('\n');
  const { status, stdout, stderr } = reviewed(input, '--profile', 'linkerd', '-o', 'json');
  assert.equal(status, 0);
  const { apiVersion, kind, response } = JSON.parse(stdout);
  assert.deepEqual([apiVersion, kind], ['admission.k8s.io/v1', 'AdmissionReview']);
  assert.equal(response.uid, recorded('pod-meshed').request.uid);
  assert.equal(stderr, 'cni-gate: other objects: AdmissionReview of Binding 1\n');
});

test('--color: colours in a pipe', () => {
  const { stdout } = reviewed(pod('a'), '--profile', 'cilium', '--color');
  assert.ok(stdout.includes('\u001b[32m+    cni-gate.io/profile: cilium'));
});

test('a closed output pipe is not an error', () => {
  const many = Array.from({ length: 200 }, (_, index) => pod(`pod-${index}`)).join('---\n');
  const script = `"${process.execPath}" webhook/main.ts review -f - --profile cilium | head -n 1; echo "$PIPESTATUS"`;
  const { stdout, stderr } = spawnSync('bash', ['-c', script], { cwd: root, input: many, encoding: 'utf8' });
  assert.equal(stderr, '');
  assert.equal(stdout, 'injected Pod shop/pod-0 (stdin:1): cilium\n0\n');
});

test('review loads neither the server nor the Kubernetes client', () => {
  const watch = `import { registerHooks } from 'node:module';
    registerHooks({ resolve(name, context, next) {
      const found = next(name, context);
      if (/node_modules\\/(fastify|pino|prom-client|@kubernetes)\\//.test(found.url)) console.error(found.url);
      return found;
    } });`;
  const args = ['--import', `data:text/javascript,${encodeURIComponent(watch)}`, 'webhook/main.ts', 'review'];
  const { stdout, stderr } = spawnSync(process.execPath, [...args, '-f', 'examples'], {
    cwd: root,
    encoding: 'utf8',
  });
  assert.match(stdout, /^reviewed 7 workloads/m);
  assert.equal(stderr, '');
});
