import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { after, before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { version } from '../../webhook/lib/version.ts';
import { labelled, namespaceOf, pod } from '../review/support.ts';
import { folderWith } from '../support/folder.ts';
import { commandsIn } from '../support/workflow-commands.ts';
import { bash, runAction } from './runners.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The files of this checkout as a runner gets them, without build results. */
let checkout: string;

function run(command: string, args: string[], cwd: string): string {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, encoding: 'utf8' });
  assert.equal(status, 0, `${command} ${args.join(' ')}: ${stderr}`);
  return stdout;
}

before(() => {
  checkout = mkdtempSync(join(tmpdir(), 'cni-gate-checkout-'));
  const listed = 'git ls-files -z --cached --others --exclude-standard';
  const copied = 'tar -c --null --ignore-failed-read -T - | tar -x -C "$0"';
  run('bash', ['-c', `${listed} | ${copied}`, checkout], root);
});
after(() => rmSync(checkout, { recursive: true }));

const misspelled = labelled('misspelled', 'cilium', 'profil');
const manifests = {
  'deploy/namespace.yaml': namespaceOf('shop', 'cilium'),
  'deploy/good.yaml': pod('good'),
};

suite('GitHub action', () => {
  const review = (workspace: string, inputs: Record<string, string>) =>
    // the first test has already installed cni-gate
    runAction(checkout, { workspace, inputs, skip: ['Install cni-gate'] });

  test('a fresh checkout: installs cni-gate, reviews, and writes output and summary', (t) => {
    const folder = folderWith(t, manifests);
    const ended = runAction(checkout, { workspace: folder, inputs: { files: 'deploy/' } });
    assert.equal(ended.status, 0, ended.log);
    assert.deepEqual(commandsIn(ended.log).commands, []);
    assert.match(ended.log, /^reviewed 1 workload: 1 injected, 0 refused\npassed$/m);
    assert.deepEqual(ended.outputs, { 'exit-code': '0', 'sarif-file': '' });
    assert.match(ended.summary, /^### cni-gate review\n\n {4}injected Pod shop\/good /);
  });

  test('a warning: an annotation at the file, and the step fails unless strict is false', (t) => {
    const folder = folderWith(t, { ...manifests, 'deploy/bad.yaml': misspelled });
    const files = 'deploy/*.yaml\n';
    const { status, log, outputs } = review(folder, { files, 'sarif-file': 'out.sarif' });
    assert.equal(status, 1);
    const [command] = commandsIn(log).commands;
    assert.equal(command?.name, 'error');
    assert.equal(command?.properties.file, 'deploy/bad.yaml');
    assert.deepEqual(outputs, { 'exit-code': '1', 'sarif-file': 'out.sarif' });
    const sarif = JSON.parse(readFileSync(join(folder, 'out.sarif'), 'utf8'));
    assert.equal(sarif.runs[0].results[0].ruleId, 'CNI_GATE_KEY_UNKNOWN');
    assert.equal(review(folder, { files, strict: 'false' }).status, 0);
  });

  test('names and values that a shell or the command line would interpret', (t) => {
    const name = 'deploy/$(touch run) `touch run`;touch run #.yaml';
    const folder = folderWith(t, { ...manifests, [name]: misspelled, '-x.yaml': pod('dash') });
    const { log, summary } = review(folder, {
      files: `deploy/namespace.yaml\n${name}\n-x.yaml`,
      namespace: '$(touch run)',
    });
    const [command] = commandsIn(log).commands;
    assert.equal(command?.properties.file, name);
    assert.match(summary, /Pod shop\/dash/);
    assert.ok(!existsSync(join(folder, 'run')));
  });

  test('a manifest whose names are Markdown and workflow commands: neither has an effect', (t) => {
    const key = '"cni-gate.io/x ``````` \\n::error::y ##[add-mask]z <img src=x>"';
    const hostile = pod('hostile').replace('metadata:', `metadata:\n  labels: {${key}: a}`);
    const folder = folderWith(t, { ...manifests, 'deploy/hostile.yaml': hostile });
    const { log, summary } = review(folder, { files: 'deploy' });
    const { commands, others } = commandsIn(log);
    assert.deepEqual(
      commands.map(({ name, properties }) => [name, properties.file]),
      [['error', 'deploy/hostile.yaml']],
    );
    assert.equal(others.length, 2);
    const [title, blank, ...lines] = summary.trimEnd().split('\n');
    assert.deepEqual([title, blank], ['### cni-gate review', '']);
    for (const line of lines) assert.match(line, /^ {4}/);
  });

  test('wrong inputs: exit code 2, and no report', (t) => {
    const folder = folderWith(t, manifests);
    for (const [inputs, text] of [
      [{ files: '' }, /expected the input "files".*CNI_GATE_USAGE/],
      [
        { files: 'deploy', strict: 'yes' },
        /expected true or false for --strict, got "yes" \(CNI_GATE_USAGE\)/,
      ],
      [{ files: 'deploy', profile: 'nowhere', 'sarif-file': 'x.sarif' }, /CNI_GATE_PROFILE_UNKNOWN/],
      [{ files: 'nowhere' }, /::error title=CNI_GATE_INPUT_UNREADABLE,file=nowhere::/],
    ] as const) {
      const { status, log } = review(folder, inputs);
      assert.equal(status, 2, JSON.stringify(inputs));
      assert.match(log, text);
      assert.ok(!existsSync(join(folder, 'x.sarif')));
    }
  });
});

test("the guide's job for GitLab: a Code Quality report, and the exit code of the review", (t) => {
  const folder = folderWith(t, { ...manifests, 'deploy/bad.yaml': misspelled });
  const guide = readFileSync(join(checkout, 'docs/guides/review.md'), 'utf8');
  const [, job = ''] = /```yaml\n(cni-gate-review:\n.*?)```/s.exec(guide) ?? [];
  const { script, artifacts } = parse(job)['cni-gate-review'];
  // git and npm are replaced: they link what the action's test has installed
  const bin = folderWith(t, {});
  writeFileSync(join(bin, 'git'), '#!/bin/sh\n[ "$1" = clone ] && ln -s "$CHECKOUT" .cni-gate\n');
  writeFileSync(join(bin, 'npm'), '#!/bin/sh\n[ "$1 $2 $3" = "ci --prefix .cni-gate" ]\n');
  for (const name of ['git', 'npm']) chmodSync(join(bin, name), 0o755);
  const PATH = `${bin}${delimiter}${process.env.PATH}`;
  const { status, log } = bash(script.join('\n'), folder, { CHECKOUT: checkout, PATH });
  assert.equal(status, 1, log);
  const [violation] = JSON.parse(readFileSync(join(folder, artifacts.reports.codequality), 'utf8'));
  assert.equal(violation.location.path, 'deploy/bad.yaml');
});

test('pre-commit hook: installed as pre-commit installs hooks of Node, with its entry and arguments', (t) => {
  const [hook] = parse(readFileSync(join(checkout, '.pre-commit-hooks.yaml'), 'utf8'));
  assert.deepEqual([hook.language, hook.pass_filenames], ['node', false]);
  const folder = folderWith(t, { ...manifests, 'deploy/bad.yaml': misspelled });
  const prefix = join(folder, '.git/hook');
  run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], checkout);
  const packed = join(folder, `cni-gate-${version}.tgz`);
  run('npm', ['install', '--global', '--prefix', prefix, '--no-audit', '--no-fund', packed], folder);
  const [command = '', ...entry]: string[] = hook.entry.split(' ');
  const hooked = (...args: string[]) =>
    spawnSync(join(prefix, 'bin', command), [...entry, ...args], { cwd: folder, encoding: 'utf8' });
  const { status, stdout } = hooked('-f', 'deploy');
  assert.equal(status, 1);
  assert.match(stdout, /CNI_GATE_KEY_UNKNOWN/);
  rmSync(join(folder, 'deploy/bad.yaml'));
  assert.equal(hooked('-f', 'deploy').status, 0);
  const files = new RegExp(hook.files);
  assert.deepEqual(
    ['a.yaml', 'b.yml', 'c.json', 'd.yaml.txt'].map((name) => files.test(name)),
    [true, true, true, false],
  );
});
