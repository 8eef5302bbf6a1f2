import assert from 'node:assert/strict';
import { chmodSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { readPolicy } from '../../webhook/config/file.ts';
import { cniGate, type Ended } from '../support/command.ts';
import { gitEnvironment, type Repository, repositoryWith } from '../support/repository.ts';
import { folderWith, namespaceOf, pod, type Reviewed, reviewNames } from './support.ts';

const deployment = (name: string, image = 'app:1', namespace = 'shop'): string =>
  `apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: ${name}, namespace: ${namespace}}\nspec:\n  selector: {matchLabels: {app: ${name}}}\n  template:\n    metadata: {labels: {app: ${name}}}\n    spec:\n      containers:\n        - name: app\n          image: ${image}\n`;

const start = {
  'deploy/namespace.yaml': namespaceOf('shop', 'cilium'),
  'deploy/a.yaml': [deployment('one'), deployment('two')].join('---\n'),
  'deploy/b.yaml': deployment('three'),
};

function review(repository: Repository, revision: string, ...args: string[]): Ended {
  return cniGate(['review', '-f', 'deploy', '--changed-since', revision, ...args], {
    cwd: repository.folder,
    env: gitEnvironment,
  });
}

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
    const { status, stdout } = review(repository, 'HEAD', '--strict');
    assert.equal(status, 0);
    assert.match(stdout, /^reviewed 0 workloads \(3 unchanged\): /);
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

  test('a Namespace moved to another file: none of its workloads', async (t) => {
    const repository = repositoryWith(t, start);
    repository.write({ 'deploy/shop.yaml': namespaceOf('shop', 'cilium') });
    rmSync(join(repository.folder, 'deploy/namespace.yaml'));
    assert.deepEqual(await changed(repository), [[], 3]);
  });

  test('a file that could not be read before: its workloads', async (t) => {
    const repository = repositoryWith(t, { ...start, 'deploy/b.yaml': 'a: b: c\n', 'deploy/c.yaml': '\0' });
    repository.write({ 'deploy/b.yaml': deployment('three'), 'deploy/c.yaml': deployment('four') });
    assert.deepEqual(await changed(repository), [['three', 'four'], 2]);
  });

  test('a link to a file: what it leads to', async (t) => {
    const repository = repositoryWith(t, {
      'shared/b.yaml': `${namespaceOf('shop', 'cilium')}---\n${deployment('three')}`,
      'deploy/a.yaml': deployment('one'),
    });
    symlinkSync('../shared/b.yaml', join(repository.folder, 'deploy/b.yaml'));
    repository.commit();
    assert.deepEqual(await changed(repository), [[], 2]);
    repository.write({ 'shared/b.yaml': `${namespaceOf('shop', 'multus')}---\n${deployment('three')}` });
    assert.deepEqual(await changed(repository), [['one', 'three'], 0]);
  });

  test('a file in a submodule: its workloads, as the revision has only the name of a commit there', async (t) => {
    const repository = repositoryWith(t, start);
    repository.write({ 'deploy/nested/x.yaml': deployment('four') });
    repository.git('-C', 'deploy/nested', 'init', '--quiet');
    repository.git('-C', 'deploy/nested', 'add', '--all');
    repository.git('-C', 'deploy/nested', 'commit', '--quiet', '--message', 'a');
    repository.commit();
    assert.deepEqual(await changed(repository), [['four'], 3]);
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

  test('from a subfolder, and with a glob', (t) => {
    const repository = repositoryWith(t, start);
    repository.write({ 'deploy/b.yaml': deployment('three', 'app:2') });
    rmSync(join(repository.folder, 'deploy/namespace.yaml'));
    const args = ['review', '-f', '*.yaml', '--changed-since', 'HEAD', '-o', 'json'];
    const { stdout } = cniGate(args, { cwd: join(repository.folder, 'deploy'), env: gitEnvironment });
    // the Namespace is gone, so all workloads changed
    assert.equal(JSON.parse(stdout).summary.workloads, 3);
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

  test('a branch, a tag, HEAD~1 and part of a name', async (t) => {
    const repository = repositoryWith(t, start);
    const { git, write, commit } = repository;
    const first = git('rev-parse', 'HEAD');
    git('tag', '--annotate', 'v1', '--message', 'a');
    write({ 'deploy/b.yaml': deployment('three', 'app:2') });
    commit();
    for (const revision of ['v1', 'HEAD~1', first.slice(0, 12), 'main^']) {
      assert.deepEqual(await changed(repository, revision), [['three'], 2], revision);
    }
    assert.deepEqual(await changed(repository, 'main'), [[], 3]);
  });

  test('histories without a common commit: the revision itself', async (t) => {
    const repository = repositoryWith(t, start);
    const { git, write, commit } = repository;
    git('checkout', '--quiet', '--orphan', 'other');
    write({ 'deploy/b.yaml': deployment('three', 'app:2') });
    commit();
    assert.deepEqual(await changed(repository, 'main'), [['three'], 2]);
  });
});

suite('--changed-since: findings', () => {
  const misspelled = (name: string): string =>
    pod(name).replace('metadata:', 'metadata:\n  labels: {cni-gate.io/profil: cilium}');
  const onHost = (name: string): string => pod(name).replace('spec:', 'spec:\n  hostNetwork: true');

  test('of a workload: only if it changed', (t) => {
    const repository = repositoryWith(t, { ...start, 'deploy/old.yaml': misspelled('old') });
    assert.equal(review(repository, 'HEAD', '--strict').status, 0);
    repository.write({ 'deploy/new.yaml': misspelled('new') });
    const { status, stdout } = review(repository, 'HEAD', '--strict', '-o', 'github');
    assert.equal(status, 1);
    assert.deepEqual(stdout.match(/Pod shop\/\w+/g), ['Pod shop/new']);
    assert.match(stdout, /\nreviewed 1 workload \(4 unchanged\): /);
  });

  test('nothing is checked: no false alarm for a change of one without a check among others with one', (t) => {
    const repository = repositoryWith(t, { ...start, 'deploy/host.yaml': onHost('host') });
    repository.write({ 'deploy/host.yaml': onHost('host').replace('app:1', 'app:2') });
    const { status, stdout } = review(repository, 'HEAD', '--strict');
    assert.deepEqual([status, /shop\/host/.test(stdout)], [0, true]);
  });

  test('nothing is checked any more, because the last workload with a check was removed', (t) => {
    const repository = repositoryWith(t, {
      'deploy/namespace.yaml': namespaceOf('shop', 'cilium'),
      'deploy/web.yaml': deployment('web'),
      'deploy/host.yaml': onHost('host'),
    });
    assert.equal(review(repository, 'HEAD', '--strict').status, 0);
    rmSync(join(repository.folder, 'deploy/web.yaml'));
    const { status, stdout } = review(repository, 'HEAD', '--strict');
    assert.equal(status, 1);
    assert.match(stdout, /CNI_GATE_NOTHING_CHECKED/);
  });

  test('a Namespace was removed: its workloads are in none', (t) => {
    const repository = repositoryWith(t, start);
    rmSync(join(repository.folder, 'deploy/namespace.yaml'));
    const { status, stdout } = review(repository, 'HEAD', '--strict');
    assert.equal(status, 1);
    assert.match(stdout, /CNI_GATE_NAMESPACE_NOT_GIVEN/);
  });

  test('nothing is checked, and the finding that says why is of another namespace, which did not change', (t) => {
    const bare = (name: string): string => `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}}\n`;
    const repository = repositoryWith(t, {
      'deploy/a.yaml': [bare('shop'), misspelled('a').replace('profil:', 'profile:')].join('---\n'),
      'deploy/b.yaml': [bare('tools'), deployment('b', 'app:1', 'tools')].join('---\n'),
    });
    const before = review(repository, 'HEAD', '--strict');
    assert.equal(before.status, 0);
    repository.write({ 'deploy/b.yaml': [bare('tools'), deployment('b', 'app:2', 'tools')].join('---\n') });
    const { status, stdout } = review(repository, 'HEAD', '--strict');
    assert.deepEqual([status, stdout.match(/CNI_GATE_\w+/g)], [1, ['CNI_GATE_NOTHING_CHECKED']]);
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

  test('a Namespace lost its label while it moved to another file: a finding', async (t) => {
    const files = {
      'deploy/namespace.yaml': '# empty\nkind: List\napiVersion: v1\nitems: []\n',
      'deploy/shop.yaml': unlabelled,
    };
    assert.match((await lost(t, files))[0] ?? '', /^NOT_OPTED_IN Namespace shop 4 /);
  });

  test('a Namespace got an empty label: one finding', async (t) => {
    const files = { 'deploy/namespace.yaml': namespaceOf('shop', '') };
    assert.deepEqual(
      (await lost(t, files)).map((text) => text.split(' ', 3).join(' ')),
      ['KEY_UNKNOWN Namespace shop'],
    );
  });

  test('a Namespace got another profile, and --profile where the label does not count: no finding', async (t) => {
    assert.deepEqual(await lost(t, { 'deploy/namespace.yaml': namespaceOf('shop', 'aws-vpc-cni') }), []);
    assert.deepEqual(await lost(t, { 'deploy/namespace.yaml': unlabelled }, 'cilium'), []);
  });

  test('a namespace that had no label before, or is gone with its workloads: no finding', (t) => {
    const repository = repositoryWith(t, {
      ...start,
      'deploy/bare.yaml': unlabelled.replaceAll('shop', 'bare'),
      'deploy/other.yaml': other,
    });
    repository.write({ 'deploy/bare.yaml': `${unlabelled.replaceAll('shop', 'bare')}  labels: {a: b}\n` });
    rmSync(join(repository.folder, 'deploy/other.yaml'));
    assert.equal(review(repository, 'HEAD', '--strict').status, 0);
  });

  test('input that cannot be read stays an error, even if it did not change', (t) => {
    const repository = repositoryWith(t, { ...start, 'deploy/x.yaml': 'a: b: c\n' });
    assert.equal(review(repository, 'HEAD').status, 2);
  });
});

suite('--changed-since: errors', () => {
  test('the help names what it does not go with', () => {
    const help = cniGate(['review', '--help']).stdout.replaceAll(/\s+/g, ' ');
    assert.ok(help.includes('since a Git revision; not with -k, -f - or -o yaml'), help);
  });

  const fails = (ended: Ended, text: RegExp): void => {
    assert.match(ended.stderr, text);
    assert.doesNotMatch(ended.stderr, /\n {4}at /);
    assert.deepEqual([ended.status, ended.stdout], [2, '']);
  };

  test('a folder that is in no repository', (t) => {
    const folder = folderWith(t, { 'a.yaml': pod('a') });
    const env = { ...gitEnvironment, GIT_CEILING_DIRECTORIES: join(folder, '..') };
    const ended = cniGate(['review', '-f', 'a.yaml', '--changed-since', 'HEAD'], { cwd: folder, env });
    fails(
      ended,
      /^cni-gate: --changed-since needs .* working tree .*not a git repository.* \(CNI_GATE_GIT\)$/m,
    );
  });

  test('a revision that does not exist, is no commit, or that git would read as an option', async (t) => {
    const repository = repositoryWith(t, start);
    fails(
      review(repository, 'nowhere'),
      /there is no commit "nowhere": fetch it .*\(CNI_GATE_GIT_REVISION\)$/m,
    );
    for (const revision of ['HEAD~9', 'HEAD:deploy', 'main..main', '0'.repeat(40), 'a b', '$(id)']) {
      await assert.rejects(inProcess(repository, revision), { code: 'CNI_GATE_GIT_REVISION' }, revision);
    }
    for (const revision of ['--all', '--output=x', '', 'a\nb']) {
      const error = { code: 'CNI_GATE_USAGE', message: /^--changed-since: expected a revision/ };
      await assert.rejects(inProcess(repository, revision), error, revision);
    }
  });

  test('no git', (t) => {
    const repository = repositoryWith(t, start);
    const ended = cniGate(['review', '-f', 'deploy', '--changed-since', 'HEAD'], {
      cwd: repository.folder,
      env: { ...gitEnvironment, PATH: '/nonexistent' },
    });
    fails(ended, /^cni-gate: --changed-since needs git: .*PATH.* \(CNI_GATE_GIT\)$/m);
  });

  test('standard input and YAML', (t) => {
    const repository = repositoryWith(t, start);
    fails(review(repository, 'HEAD', '-f', '-'), /does not go with -f - \(CNI_GATE_USAGE\)/);
    fails(review(repository, 'HEAD', '-o', 'yaml'), /does not go with --output yaml/);
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
