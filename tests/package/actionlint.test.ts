import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const module = fileURLToPath(new URL('./actionlint', import.meta.url));

let folder: string;

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'cni-gate-actionlint-'));
  const tool = 'github.com/rhysd/actionlint/cmd/actionlint';
  const { status, stderr, error } = spawnSync(
    'go',
    ['build', '-C', module, '-o', join(folder, 'actionlint'), tool],
    {
      encoding: 'utf8',
    },
  );
  if (error) throw new Error(`NOT RUN: this needs Go 1.26 and its module proxy: ${error.message}`);
  assert.equal(status, 0, stderr);
});
after(() => rmSync(folder, { recursive: true }));

/** What actionlint reports about the workflows of this checkout and the action that they use. */
function lint(): string {
  const copy = join(folder, 'checkout');
  rmSync(copy, { recursive: true, force: true });
  // actionlint looks for the root of a repository
  mkdirSync(join(copy, '.git'), { recursive: true });
  cpSync(join(root, '.github'), join(copy, '.github'), { recursive: true });
  cpSync(join(root, 'action.yml'), join(copy, 'action.yml'));
  // without shellcheck and pyflakes, because the result would depend on whether the machine has them
  const { stdout, stderr } = spawnSync(
    join(folder, 'actionlint'),
    ['-shellcheck=', '-pyflakes=', '-no-color'],
    {
      cwd: copy,
      encoding: 'utf8',
    },
  );
  return stdout + stderr;
}

test('actionlint finds nothing in the workflows and in action.yml', () => {
  assert.equal(lint(), '');
});
