import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { serverLimits } from '../../webhook/lib/limits.ts';
import { version } from '../../webhook/lib/version.ts';
import { folderWith } from '../support/folder.ts';
import { startProgram } from '../support/program.ts';
import { patchOf, recorded } from '../support/reviews.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Runs a command until it ends. */
function run(
  cwd: string,
  command: string,
  args: string[],
): { status: number | null; stdout: string; stderr: string } {
  return spawnSync(command, args, { cwd, encoding: 'utf8' });
}

test('npx in a checkout builds what is missing', (t) => {
  const cache = folderWith(t);
  rmSync(join(root, 'dist/webhook'), { recursive: true, force: true });
  const args = ['--yes', '--offline', '--cache', cache, 'cni-gate', '--version'];
  const { stdout, stderr } = run(root, 'npx', args);
  assert.equal(stdout.trim(), version, stderr);
});

test('the packed file runs where it is installed, without the checkout', async (t) => {
  const folder = folderWith(t);
  const packed = run(root, 'npm', ['pack', '--silent', '--pack-destination', folder]);
  assert.equal(packed.status, 0, packed.stderr);
  const file = `cni-gate-${version}.tgz`;
  const listed = run(folder, 'tar', ['tf', file]).stdout.split('\n');
  assert.ok(listed.includes('package/dist/webhook/profiles/linkerd.yaml'));
  assert.ok(listed.includes('package/dist/webhook/page/page.js'));
  assert.deepEqual(
    listed.filter((path) => /\.ts$|tests\//.test(path)),
    [],
  );

  // the checkout's own package.json has no `engines`, because npm may run on Node 20 there
  const packedManifest = JSON.parse(run(folder, 'tar', ['xOf', file, 'package/package.json']).stdout);
  assert.deepEqual(packedManifest.engines, { node: '>=22.19' });

  writeFileSync(join(folder, 'package.json'), '{"private": true}');
  const installed = run(folder, 'npm', ['install', '--omit=dev', '--no-audit', '--no-fund', `./${file}`]);
  assert.equal(installed.status, 0, installed.stderr);
  const cniGate = (...args: string[]) => run(folder, 'npx', ['--no', '--', 'cni-gate', ...args]);
  const reported = cniGate('--version');
  assert.equal(reported.stdout.trim(), version, reported.stderr);
  const pod = 'apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: i}]}\n';
  writeFileSync(join(folder, 'pod.yaml'), pod);
  const review = cniGate('review', '-f', 'pod.yaml', '--profile', 'cilium', '-o', 'yaml');
  assert.equal(review.status, 0, review.stderr);
  assert.equal(parse(review.stdout).spec.initContainers[0].name, 'cni-gate-validator');

  // pre-commit installs Node hooks in the same way, and appends the user's arguments to `entry`
  const [{ entry, files }] = parse(readFileSync(join(root, '.pre-commit-hooks.yaml'), 'utf8'));
  const hooked = cniGate(...entry.split(' ').slice(1), '-f', 'pod.yaml');
  assert.deepEqual(
    [hooked.status, /CNI_GATE_NAMESPACE_NOT_GIVEN/.test(hooked.stdout)],
    [1, true],
    hooked.stdout,
  );
  assert.match('pod.yaml', new RegExp(files));

  const server = await startProgram(t, join(folder, 'node_modules/cni-gate/dist/webhook/main.js'));
  const large = recorded('pod-ad-hoc');
  large.request.object.metadata.annotations = { large: 'x'.repeat(2 * serverLimits.smallBody) };
  const answer = await server.call(large);
  assert.equal(patchOf(JSON.parse(answer.body).response)[0]?.path, '/spec/initContainers', 'no thread runs');
});
