import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { version } from '../../webhook/lib/version.ts';
import { programPath } from './harness/programs.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** The real kubectl with the programs of package.json in its PATH, as npm installs them. */
function kubectlWithPlugin(t: TestContext): (...args: string[]) => ReturnType<typeof spawnSync> {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-plugin-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const programs: Record<string, string> = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).bin;
  for (const [name, path] of Object.entries(programs)) symlinkSync(join(root, path), join(folder, name));
  const PATH = [folder, join(root, 'node_modules/node/bin'), process.env.PATH].join(delimiter);
  return (...args) =>
    spawnSync(programPath('kubectl'), args, {
      cwd: root,
      encoding: 'utf8',
      env: { ...process.env, PATH, HOME: folder },
    });
}

test('kubectl cni-gate: the command line as a plugin', (t) => {
  const kubectl = kubectlWithPlugin(t);
  const { stdout, stderr } = kubectl('cni-gate', '--version');
  assert.deepEqual([stdout, stderr], [`${version}\n`, '']);
  const review = kubectl('cni-gate', 'review', '-f', 'examples/', '--strict', '--summary');
  assert.equal(review.status, 0);
  assert.match(String(review.stdout), /^injected +Deployment\/web +shop /m);
  assert.equal(kubectl('cni-gate', 'review', '-f', 'nowhere').status, 2);
  assert.match(String(kubectl('plugin', 'list').stdout), /\/kubectl-cni_gate$/m);
});
