import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { writePlugin } from '../../release/krew.ts';
import { version } from '../../webhook/lib/version.ts';
import { programPath } from '../cluster/binaries/ensure.ts';
import { run } from '../support/run.ts';

/* The plugin `kubectl cni-gate` as released, installed as krew would install it. */

const root = fileURLToPath(new URL('../../', import.meta.url));
let folder: string;
let manifest: {
  metadata: { name: string };
  spec: {
    version: string;
    shortDescription: string;
    caveats?: string;
    platforms: { uri: string; sha256: string; bin: string }[];
  };
};
const archive = (): string => join(folder, `kubectl-cni_gate-${version}.tgz`);
const sumOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex');

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'cni-gate-krew-'));
  await writePlugin(folder, version);
  manifest = parse(readFileSync(join(folder, 'cni-gate-krew.yaml'), 'utf8'));
});
after(() => rmSync(folder, { recursive: true, force: true }));

test("the manifest keeps krew's rules, and its checksum is that of the archive", () => {
  const [platform] = manifest.spec.platforms;
  assert.equal(manifest.metadata.name, 'cni-gate');
  // https://krew.sigs.k8s.io/docs/developer-guide/develop/best-practices
  assert.match(manifest.spec.shortDescription, /^.{1,50}$/);
  assert.equal(manifest.spec.version, `v${version}`);
  assert.equal(platform?.sha256, sumOf(archive()));
  assert.ok(platform?.uri.endsWith(`/v${version}/kubectl-cni_gate-${version}.tgz`));
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const [least] = /\d[\d.]*/.exec(scripts.prepack) ?? [];
  assert.ok(manifest.spec.caveats?.includes(`Node ${least} or later`));
});

test('unpacked and linked, it runs as kubectl cni-gate, without the checkout', async () => {
  const [platform] = manifest.spec.platforms;
  const store = join(folder, 'store/cni-gate', manifest.spec.version);
  const bin = join(folder, 'bin');
  for (const path of [store, bin]) mkdirSync(path, { recursive: true });
  await run('tar', ['-xzf', archive(), '-C', store]);
  symlinkSync(join(store, platform?.bin ?? ''), join(bin, 'kubectl-cni_gate'));
  const PATH = [bin, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
  const kubectl = (...args: string[]) =>
    spawnSync(programPath('kubectl'), args, { cwd: folder, encoding: 'utf8', env: { PATH, HOME: folder } });
  const reported = kubectl('cni-gate', '--version');
  assert.deepEqual([reported.stdout, reported.stderr], [`${version}\n`, '']);
  const review = kubectl('cni-gate', 'review', '-f', join(root, 'examples'), '--strict', '--summary');
  assert.equal(review.status, 0, review.stderr);
  assert.match(review.stdout, /^injected Deployment shop\/web /m);
  const status = kubectl('cni-gate', 'status', '--kubeconfig', '/nowhere');
  assert.deepEqual([status.status, status.stdout], [2, '']);
  assert.match(status.stderr, /CNI_GATE_CLUSTER_CONFIG/);
  assert.match(kubectl('plugin', 'list').stdout, /\/kubectl-cni_gate$/m);
});
