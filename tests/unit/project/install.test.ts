import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../../', import.meta.url));

test('npm ci on Node 20 prints no warning about engines: package-lock.json has no `engines` that Node 20 fails', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
    if (existsSync(join(repository, file))) copyFileSync(join(repository, file), join(folder, file));
  }
  // npm compares `engines` with `process.version`
  const version = "Object.defineProperty(process, 'version', { value: 'v20.17.0' })";
  const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(version)}`;
  const { status, stderr } = spawnSync('npm', ['ci', '--dry-run', '--ignore-scripts', '--offline'], {
    cwd: folder,
    env: { ...process.env, NODE_OPTIONS },
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  assert.doesNotMatch(stderr, /EBADENGINE/);
});
