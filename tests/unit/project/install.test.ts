import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const repository = fileURLToPath(new URL('../../../', import.meta.url));

/** Runs npm or npx as on a machine with Node 20: npm compares `engines` with `process.version`. */
function onNode20(cwd: string, command: string, args: string[]): { stdout: string; stderr: string } {
  const version = "Object.defineProperty(process, 'version', { value: 'v20.17.0' })";
  const env = {
    ...process.env,
    NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(version)}`,
  };
  const { status, stdout, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  return { stdout, stderr };
}

test('npm ci on Node 20 prints no warning about engines: package-lock.json has no `engines` that Node 20 fails', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const file of ['package.json', 'package-lock.json', '.npmrc']) {
    if (existsSync(join(repository, file))) copyFileSync(join(repository, file), join(folder, file));
  }
  const { stderr } = onNode20(folder, 'npm', ['ci', '--dry-run', '--ignore-scripts', '--offline']);
  assert.doesNotMatch(stderr, /EBADENGINE/);
});

test('npx cni-gate in the checkout on Node 20 prints no warning about engines', (t) => {
  const cache = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  t.after(() => rmSync(cache, { recursive: true }));
  const { stderr } = onNode20(repository, 'npx', ['--offline', '--cache', cache, 'cni-gate', '--version']);
  assert.doesNotMatch(stderr, /EBADENGINE/);
});
