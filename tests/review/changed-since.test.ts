import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, type TestContext, test } from 'node:test';
import { cniGate, type Ended } from '../support/command.ts';
import { gitEnvironment, type Repository, repositoryWith } from '../support/repository.ts';
import { folderWith, namespaceOf, pod } from './support.ts';

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

/** The names of the workloads that changed, and how many did not. */
function changed(repository: Repository, revision = 'HEAD', ...args: string[]): [string[], number] {
  const { stdout, stderr } = review(repository, revision, '-o', 'json', ...args);
  assert.equal(stderr, '');
  const { summary, workloads } = JSON.parse(stdout);
  assert.equal(summary.workloads, workloads.length);
  return [workloads.map((one: { name: string }) => one.name), summary.unchanged];
}

suite('--changed-since: what changed', () => {
  const after = (t: TestContext, edit: (repository: Repository) => void): [string[], number] => {
    const repository = repositoryWith(t, start);
    edit(repository);
    return changed(repository);
  };

  test('nothing: no workload, and exit code 0', (t) => {
    const repository = repositoryWith(t, start);
    assert.deepEqual(changed(repository), [[], 3]);
    const { status, stdout } = review(repository, 'HEAD', '--strict');
    assert.equal(status, 0);
    assert.match(stdout, /^reviewed 0 workloads \(3 unchanged\): /);
  });

  test('an image of one of two in a file: that one', (t) => {
    const edit = [deployment('one'), deployment('two', 'app:2')].join('---\n');
    assert.deepEqual(
      after(t, ({ write }) => write({ 'deploy/a.yaml': edit })),
      [['two'], 2],
    );
  });

  test('only comments, layout, order of keys, order of documents and line ends: none', (t) => {
    const two = JSON.stringify({
      kind: 'Deployment',
      spec: {
        template: {
          spec: { containers: [{ image: 'app:1', name: 'app' }] },
          metadata: { labels: { app: 'two' } },
        },
        selector: { matchLabels: { app: 'two' } },
      },
      metadata: { namespace: 'shop', name: 'two' },
      apiVersion: 'apps/v1',
    });
    const edit = `# a comment\n${two}\n---\n${deployment('one').replaceAll('\n', '\r\n')}`;
    assert.deepEqual(
      after(t, ({ write }) => write({ 'deploy/a.yaml': edit })),
      [[], 3],
    );
  });

  test('a new file and one that Git does not know: their workloads', (t) => {
    const edit = ({ write, git }: Repository): void => {
      write({
        'deploy/new.yaml': deployment('four'),
        'deploy/known.yaml': deployment('five'),
        'deploy/ignored.yaml': deployment('six'),
        '.gitignore': 'ignored.yaml\n',
      });
      git('add', 'deploy/known.yaml');
    };
    assert.deepEqual(after(t, edit), [['six', 'five', 'four'], 3]);
  });

  test('an object moved to another file: none; moved and changed: that one', (t) => {
    const moved = ({ folder }: Repository): void => {
      renameSync(join(folder, 'deploy/b.yaml'), join(folder, 'deploy/c.yaml'));
    };
    assert.deepEqual(after(t, moved), [[], 3]);
    const both = (repository: Repository): void => {
      moved(repository);
      repository.write({ 'deploy/c.yaml': deployment('three', 'app:2') });
    };
    assert.deepEqual(after(t, both), [['three'], 2]);
  });

  test('a copy with the same name in another folder: it is new', (t) => {
    const edit = ({ write }: Repository): void => write({ 'deploy/copy/b.yaml': deployment('three') });
    assert.deepEqual(after(t, edit), [['three'], 3]);
  });

  test("a namespace's label: all its workloads, and no others", (t) => {
    const repository = repositoryWith(t, {
      ...start,
      'deploy/other.yaml': `${namespaceOf('other', 'cilium')}---\n${deployment('four', 'app:1', 'other')}`,
    });
    repository.write({ 'deploy/namespace.yaml': namespaceOf('shop', 'multus') });
    assert.deepEqual(changed(repository), [['one', 'two', 'three'], 1]);
  });

  test('a file that could not be read before: its workloads', (t) => {
    const repository = repositoryWith(t, { ...start, 'deploy/b.yaml': 'a: b: c\n' });
    repository.write({ 'deploy/b.yaml': deployment('three') });
    assert.deepEqual(changed(repository), [['three'], 2]);
  });

  test('a link to a file: what it leads to', (t) => {
    const repository = repositoryWith(t, { 'shared/b.yaml': deployment('three') });
    mkdirSync(join(repository.folder, 'deploy'));
    symlinkSync('../shared/b.yaml', join(repository.folder, 'deploy/b.yaml'));
    repository.commit();
    assert.deepEqual(changed(repository), [[], 1]);
    repository.write({ 'shared/b.yaml': deployment('three', 'app:2') });
    assert.deepEqual(changed(repository), [['three'], 0]);
  });

  test('a file in a submodule: its workloads, as the revision has only the name of a commit there', (t) => {
    const repository = repositoryWith(t, start);
    repository.write({ 'deploy/nested/x.yaml': deployment('four') });
    repository.git('-C', 'deploy/nested', 'init', '--quiet');
    repository.git('-C', 'deploy/nested', 'add', '--all');
    repository.git('-C', 'deploy/nested', 'commit', '--quiet', '--message', 'a');
    repository.commit();
    assert.deepEqual(changed(repository), [['four'], 3]);
  });

  test('a file outside the repository: its workloads', (t) => {
    const repository = repositoryWith(t, start);
    const outside = folderWith(t, { 'x.yaml': deployment('four') });
    assert.deepEqual(changed(repository, 'HEAD', '-f', outside), [['four'], 3]);
  });

  test('names with blanks, tabs, newlines, quotes and other scripts', (t) => {
    const names = [
      'deploy/a b.yaml',
      'deploy/a\tb.yaml',
      'deploy/a\nb.yaml',
      'deploy/"ä".yaml',
      'deploy/-r.yaml',
    ];
    const repository = repositoryWith(
      t,
      Object.fromEntries(names.map((name, at) => [name, deployment(`n${at}`)])),
    );
    assert.deepEqual(changed(repository), [[], 5]);
    repository.write({ 'deploy/a\nb.yaml': deployment('n2', 'app:2') });
    assert.deepEqual(changed(repository), [['n2'], 4]);
  });

  test('a repository with names of SHA-256', (t) => {
    const repository = repositoryWith(t, start, '--object-format=sha256');
    repository.write({ 'deploy/b.yaml': deployment('three', 'app:2') });
    assert.deepEqual(changed(repository), [['three'], 2]);
  });

  test('a file with a byte order mark, and one with NUL bytes before', (t) => {
    const repository = repositoryWith(t, { ...start, 'deploy/b.yaml': `\ufeff${deployment('three')}` });
    assert.deepEqual(changed(repository), [[], 3]);
    repository.write({ 'deploy/b.yaml': '\0\0' });
    repository.commit();
    repository.write({ 'deploy/b.yaml': deployment('three') });
    assert.deepEqual(changed(repository), [['three'], 2]);
  });
});

suite('--changed-since: since when', () => {
  test('the commit at which the branch began: later changes of others do not count', (t) => {
    const repository = repositoryWith(t, start);
    const { git, write, commit } = repository;
    git('checkout', '--quiet', '-b', 'mine');
    write({ 'deploy/b.yaml': deployment('three', 'app:2') });
    commit();
    git('checkout', '--quiet', 'main');
    write({ 'deploy/a.yaml': [deployment('one', 'app:9'), deployment('two')].join('---\n') });
    commit();
    git('checkout', '--quiet', 'mine');
    assert.deepEqual(changed(repository, 'main'), [['three'], 2]);
  });

  test('a branch, a tag, HEAD~1 and part of a name', (t) => {
    const repository = repositoryWith(t, start);
    const { git, write, commit } = repository;
    const first = git('rev-parse', 'HEAD');
    git('tag', '--annotate', 'v1', '--message', 'a');
    write({ 'deploy/b.yaml': deployment('three', 'app:2') });
    commit();
    for (const revision of ['v1', 'HEAD~1', first.slice(0, 12), 'main^']) {
      assert.deepEqual(changed(repository, revision), [['three'], 2], revision);
    }
    assert.deepEqual(changed(repository, 'main'), [[], 3]);
  });

  test('histories without a common commit: the revision itself', (t) => {
    const repository = repositoryWith(t, start);
    const { git, write, commit } = repository;
    git('checkout', '--quiet', '--orphan', 'other');
    write({ 'deploy/b.yaml': deployment('three', 'app:2') });
    commit();
    assert.deepEqual(changed(repository, 'main'), [['three'], 2]);
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

  test('input that cannot be read stays an error, even if it did not change', (t) => {
    const repository = repositoryWith(t, { ...start, 'deploy/x.yaml': 'a: b: c\n' });
    assert.equal(review(repository, 'HEAD').status, 2);
  });
});

suite('--changed-since: errors', () => {
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

  test('a revision that does not exist, or is no commit', (t) => {
    const repository = repositoryWith(t, start);
    for (const revision of [
      'nowhere',
      'HEAD~9',
      'HEAD:deploy',
      'main..main',
      '0'.repeat(40),
      'a b',
      '$(id)',
    ]) {
      fails(review(repository, revision), /there is no commit ".*": fetch it .*\(CNI_GATE_GIT_REVISION\)$/m);
    }
  });

  test('a revision that git would read as an option', (t) => {
    const repository = repositoryWith(t, start);
    for (const revision of ['--all', '--output=x', '', 'a\nb']) {
      const ended = cniGate(['review', '-f', 'deploy', `--changed-since=${revision}`], {
        cwd: repository.folder,
        env: gitEnvironment,
      });
      fails(ended, /^cni-gate: --changed-since: expected a revision/);
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

test('nothing that the configuration of a repository names runs', (t) => {
  const repository = repositoryWith(t, { ...start, '.gitattributes': '*.yaml filter=f diff=d\n' });
  const trap = join(repository.folder, 'trap');
  writeFileSync(trap, '#!/bin/sh\necho run >> "$0.log"\ncat\n');
  chmodSync(trap, 0o755);
  for (const key of [
    'core.fsmonitor',
    'filter.f.clean',
    'filter.f.smudge',
    'diff.external',
    'diff.d.textconv',
    'core.pager',
  ]) {
    repository.git('config', key, trap);
  }
  repository.write({ 'deploy/b.yaml': deployment('three', 'app:2') });
  assert.deepEqual(changed(repository), [['three'], 2]);
  assert.throws(() => readFileSync(`${trap}.log`), /ENOENT/);
});
