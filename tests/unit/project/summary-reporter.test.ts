import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { folderWith } from '../../review/support.ts';

const reporter = fileURLToPath(new URL('../../support/summary-reporter.ts', import.meta.url));

test('21 test files: progress says how many are done, how long they took and how long the others take', (t) => {
  const names = Array.from({ length: 21 }, (_, i) => `t${i}.test.mjs`);
  const passes = "import { test } from 'node:test'; test('passes', () => {});";
  const folder = folderWith(t, Object.fromEntries(names.map((name) => [name, passes])));
  const args = ['--test', '--test-isolation=process', `--test-reporter=${reporter}`, '*.test.mjs'];
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined };
  const { status, stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  assert.match(
    stdout,
    /^21 test files\n\.{20} 20 of 21 files, \d+ s, about \d+ s left\n\. 21 of 21 files, \d+ s\n/,
  );
  assert.match(stdout, /pass 21\n/);
});
