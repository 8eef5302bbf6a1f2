import assert from 'node:assert/strict';
import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { readPolicy } from '../../webhook/config/load.ts';
import { gitEnvironment, type Repository, repositoryWith } from '../support/repository.ts';
import { command, folderWith, namespaceOf, pod, type Reviewed, reviewNames } from './support.ts';

const deployment = (name: string, image = 'app:1', namespace = 'shop'): string =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: ${name}, namespace: ${namespace}}\nspec:\n  selector: {matchLabels: {app: ${name}}}\n  template:\n    metadata: {labels: {app: ${name}}}\n    spec:\n      containers:\n        - name: app\n          image: ${image}\n`;

const start = {
  'deploy/namespace.yaml': namespaceOf('shop', 'cilium'),
  'deploy/a.yaml': [deployment('one'), deployment('two')].join('---\n'),
  'deploy/b.yaml': deployment('three'),
};

Object.assign(process.env, gitEnvironment);

/** Reviews the folder `deploy` of a repository in this process, which is faster than a command. */
function inProcess(
  { folder }: Repository,
  changedSince: string,
  { more = [], profile }: { more?: string[]; profile?: string } = {},
): Promise<Reviewed> {
  process.chdir(folder);
  const admission = { policy: readPolicy(undefined), profile };
  return reviewNames({ names: ['deploy', ...more], namespace: 'default', admission, changedSince });
}

/** The same with the command's arguments and its output. */
function review({ folder }: Repository, revision: string, ...args: string[]): ReturnType<typeof command> {
  process.chdir(folder);
  return command('-f', 'deploy', '--changed-since', revision, ...args);
}

/** The names of the workloads that changed, and how many did not. */
async function changed(
  repository: Repository,
  revision = 'HEAD',
  ...more: string[]
): Promise<[names: string[], unchanged: number | undefined]> {
  const { report, summary } = await inProcess(repository, revision, { more });
  assert.deepEqual(report.faults, []);
  return [report.reviewed.map(({ workload }) => workload.name), summary.unchanged];
}

suite('--changed-since: what changed', () => {
  const after = (t: TestContext, edit: (repository: Repository) => void): ReturnType<typeof changed> => {
    const repository = repositoryWith(t, start);
    edit(repository);
    return changed(repository);
  };

  test('nothing: no workload, and exit code 0', async (t) => {
    const repository = repositoryWith(t, start);
    assert.deepEqual(await changed(repository), [[], 3]);
    const { status, output } = await review(repository, 'HEAD', '--strict');
    assert.equal(status, 0);
    assert.match(output, /^reviewed 0 workloads \(3 unchanged\): /);
  });

  test('a file: its workloads; moved: too', async (t) => {
    const edit = ({ folder, write }: Repository): void => {
      write({ 'deploy/a.yaml': [deployment('one'), deployment('two', 'app:2')].join('---\n') });
      renameSync(join(folder, 'deploy/b.yaml'), join(folder, 'deploy/c.yaml'));
    };
    assert.deepEqual(await after(t, edit), [['one', 'two', 'three'], 0]);
  });

  test('files that Git does not know, ignores or has not committed, and one outside the repository: their workloads', async (t) => {
    const repository = repositoryWith(t, start);
    repository.write({
      'deploy/new.yaml': deployment('four'),
      'deploy/known.yaml': deployment('five'),
      'deploy/ignored.yaml': deployment('six'),
      '.gitignore': 'ignored.yaml\n',
    });
    repository.git('add', 'deploy/known.yaml');
    const outside = folderWith(t, { 'x.yaml': deployment('seven') });
    assert.deepEqual(await changed(repository, 'HEAD', outside), [['six', 'five', 'four', 'seven'], 3]);
  });

  test("a namespace's label or annotation: all its workloads, and no others", async (t) => {
    const repository = repositoryWith(t, {
      ...start,
      'deploy/other.yaml': `${namespaceOf('other', 'cilium')}---\n${deployment('four', 'app:1', 'other')}`,
    });
    repository.write({ 'deploy/namespace.yaml': namespaceOf('shop', 'multus') });
    assert.deepEqual(await changed(repository), [['one', 'two', 'three'], 1]);
    const annotated = `${namespaceOf('shop', 'cilium')}  annotations: {a: b}\n`;
    repository.write({ 'deploy/namespace.yaml': annotated });
    assert.deepEqual(await changed(repository), [['one', 'two', 'three'], 1]);
  });

  test('names with blanks, tabs, newlines, quotes and other scripts; a repository with names of SHA-256', async (t) => {
    const names = [
      'deploy/a b.yaml',
      'deploy/a\tb.yaml',
      'deploy/a\nb.yaml',
      'deploy/"ä".yaml',
      'deploy/-r.yaml',
    ];
    const files = Object.fromEntries(names.map((name, at) => [name, deployment(`n${at}`)]));
    const repository = repositoryWith(t, files, '--object-format=sha256');
    assert.deepEqual(await changed(repository), [[], 5]);
    repository.write({ 'deploy/a\nb.yaml': deployment('n2', 'app:2') });
    assert.deepEqual(await changed(repository), [['n2'], 4]);
  });
});

suite('--changed-since: since when', () => {
  test('the commit at which the branch began: later changes of others do not count', async (t) => {
    const repository = repositoryWith(t, start);
    const { git, write, commit } = repository;
    git('checkout', '--quiet', '-b', 'mine');
    write({ 'deploy/b.yaml': deployment('three', 'app:2') });
    commit();
    git('checkout', '--quiet', 'main');
    write({ 'deploy/a.yaml': [deployment('one', 'app:9'), deployment('two')].join('---\n') });
    commit();
    git('checkout', '--quiet', 'mine');
    assert.deepEqual(await changed(repository, 'main'), [['three'], 2]);
  });
});

suite('--changed-since: findings', () => {
  const misspelled = (name: string): string =>
    pod(name).replace('metadata:', 'metadata:\n  labels: {cni-gate.io/profil: cilium}');

  test('of a workload: only if it changed', async (t) => {
    const repository = repositoryWith(t, { ...start, 'deploy/old.yaml': misspelled('old') });
    assert.equal((await review(repository, 'HEAD', '--strict')).status, 0);
    repository.write({ 'deploy/new.yaml': misspelled('new') });
    const { status, output } = await review(repository, 'HEAD', '--strict', '-o', 'github');
    assert.equal(status, 1);
    assert.deepEqual(output.match(/Pod shop\/\w+/g), ['Pod shop/new']);
    assert.match(output, /\nreviewed 1 workload \(4 unchanged\): /);
  });

  const unlabelled = namespaceOf('shop', 'cilium').replace(/ {2}labels:[\s\S]*$/, '');
  const lost = async (t: TestContext, files: Record<string, string>, profile?: string): Promise<string[]> => {
    const repository = repositoryWith(t, { ...start, 'deploy/other.yaml': other });
    repository.write(files);
    const { json } = await inProcess(repository, 'HEAD', profile === undefined ? {} : { profile });
    return json().findings.map(({ code, subject, line, message }) =>
      [code.slice('CNI_GATE_'.length), subject, line, message].join(' '),
    );
  };
  const other = [namespaceOf('other', 'cilium'), deployment('four', 'app:1', 'other')].join('---\n');

  test('a Namespace lost its label or got none: a finding at the label, beside another one that opted in', async (t) => {
    const start = 'NOT_OPTED_IN Namespace shop';
    const was = 'opted in to profile cilium at the revision of --changed-since, and now has';
    assert.deepEqual(await lost(t, { 'deploy/namespace.yaml': unlabelled }), [
      `${start} 4 ${was} no label cni-gate.io/profile: its pods get no check`,
    ]);
    assert.deepEqual(await lost(t, { 'deploy/namespace.yaml': namespaceOf('shop', 'none') }), [
      `${start} 6 ${was} cni-gate.io/profile=none: its pods get no check`,
    ]);
  });

  test('a Namespace got another profile, and --profile where the label does not count: no finding', async (t) => {
    assert.deepEqual(await lost(t, { 'deploy/namespace.yaml': namespaceOf('shop', 'aws-vpc-cni') }), []);
    assert.deepEqual(await lost(t, { 'deploy/namespace.yaml': unlabelled }, 'cilium'), []);
  });
});

suite('--changed-since: errors', () => {
  test('a folder that is in no repository', async (t) => {
    const folder = folderWith(t, { 'a.yaml': pod('a') });
    process.env.GIT_CEILING_DIRECTORIES = join(folder, '..');
    process.chdir(folder);
    await assert.rejects(command('-f', 'a.yaml', '--changed-since', 'HEAD'), {
      code: 'CNI_GATE_GIT',
      message: /^--changed-since needs git, .* working tree: .*not a git repository/,
    });
  });

  test('a revision that does not exist, is no commit, or that git would read as an option', async (t) => {
    const repository = repositoryWith(t, start);
    const missing = [
      'nowhere',
      'HEAD~9',
      'HEAD:deploy',
      'main..main',
      '0'.repeat(40),
      'a b',
      '$(id)',
      '--all',
      '--output=x',
      '',
    ];
    for (const revision of missing) {
      const error = { code: 'CNI_GATE_GIT_REVISION', message: /there is no commit ".*": fetch it / };
      await assert.rejects(inProcess(repository, revision), error, revision);
    }
  });
});

test('no hook, driver or pager that the configuration of a repository names runs', async (t) => {
  const repository = repositoryWith(t, { ...start, '.gitattributes': '*.yaml filter=f diff=d\n' });
  const trap = join(repository.folder, 'trap');
  writeFileSync(trap, '#!/bin/sh\necho run >> "$0.log"\ncat\n');
  chmodSync(trap, 0o755);
  for (const key of ['core.fsmonitor', 'filter.f.smudge', 'diff.external', 'diff.d.textconv', 'core.pager']) {
    repository.git('config', key, trap);
  }
  repository.write({ 'deploy/b.yaml': deployment('three', 'app:2') });
  assert.deepEqual(await changed(repository), [['three'], 2]);
  assert.throws(() => readFileSync(`${trap}.log`), /ENOENT/);
});
