import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { kustomize, objectsOf } from '../../release/kustomize.ts';
import { version } from '../../webhook/lib/version.ts';
import { programPath } from '../cluster/binaries/ensure.ts';
import { run } from '../support/run.ts';
import { chart, helm, helmProgram } from './programs.ts';

/* Runs the steps of the release workflow that need neither GitHub nor a network. */

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const workflow = join(checkout, '.github/workflows/release.yml');

interface Workflow {
  jobs: Record<string, { steps: { id?: string; name?: string; run?: string }[] }>;
}

const folders = ['certs', 'charts', 'integrations', 'manifests', 'release', 'webhook', 'validator'];

/** A copy of the files that the workflow needs. Its changelog has a section for this version. */
function releasedCheckout(): string {
  const copy = mkdtempSync(join(tmpdir(), 'checkout-'));
  for (const path of [...folders, 'LICENSE', 'package.json'])
    cpSync(join(checkout, path), join(copy, path), { recursive: true });
  symlinkSync(join(checkout, 'node_modules'), join(copy, 'node_modules'));
  const changelog = readFileSync(join(checkout, 'CHANGELOG.md'), 'utf8');
  writeFileSync(join(copy, 'CHANGELOG.md'), changelog.replace('## Unreleased', `## ${version}`));
  return copy;
}

const { jobs }: Workflow = parse(readFileSync(workflow, 'utf8'));
const path = [dirname(process.execPath), dirname(helmProgram.path), process.env.PATH].join(':');

/** Runs the named steps of the job `files` as a runner of GitHub Actions does. */
async function runSteps(folder: string, tag: string): Promise<void> {
  const env = { ...process.env, PATH: path, GITHUB_REF_NAME: tag };
  const named = (jobs.files?.steps ?? []).filter(({ name }) => name !== undefined);
  assert.deepEqual(
    named.map(({ name }) => name),
    ['notes', 'install files', 'chart', 'checksums'],
  );
  for (const step of named) {
    await run('bash', ['-e', '-o', 'pipefail', '-c', `cd '${folder}'\n${step.run}`], '', env);
  }
}

suite('the files of a release', () => {
  const folder = releasedCheckout();
  const files = join(folder, 'dist-release');
  const packed = `cni-gate-${version}.tgz`;
  const plugin = `kubectl-cni_gate-${version}.tgz`;
  before(() => runSteps(folder, `v${version}`));

  test('are all there, with checksums that agree', async () => {
    assert.deepEqual(
      readdirSync(files).sort(),
      [
        ...['SHA256SUMS', packed, 'install-strict.yaml', 'install.yaml', 'notes.md'],
        ...['cni-gate-krew.yaml', plugin],
      ].sort(),
    );
    await run('bash', ['-c', `cd '${files}' && sha256sum --check --strict SHA256SUMS`]);
    assert.match(readFileSync(join(files, 'SHA256SUMS'), 'utf8'), new RegExp(`${packed}$`, 'm'));
    assert.match(readFileSync(join(files, 'notes.md'), 'utf8'), /Helm chart/);
  });

  test('install what the overlays and the chart of the checkout install', async () => {
    for (const [name, overlay] of [
      ['install.yaml', 'permissive'],
      ['install-strict.yaml', 'strict'],
    ] as const) {
      const written = readFileSync(join(files, name), 'utf8');
      assert.deepEqual(objectsOf(written), objectsOf(await kustomize({ overlay })), name);
    }
    const template = (from: string): Promise<string> =>
      helm(['template', 'x', from, '--namespace', 'cni-gate']);
    assert.equal(await template(join(files, packed)), await template(chart));
  });

  test("krew's manifest keeps krew's rules, and its checksum is that of the archive", () => {
    const { metadata, spec } = krewManifest(files);
    const [platform] = spec.platforms;
    assert.equal(metadata.name, 'cni-gate');
    // https://krew.sigs.k8s.io/docs/developer-guide/develop/best-practices
    assert.match(spec.shortDescription, /^.{1,50}$/);
    assert.equal(spec.version, `v${version}`);
    const sum = createHash('sha256')
      .update(readFileSync(join(files, plugin)))
      .digest('hex');
    assert.equal(platform?.sha256, sum);
    assert.ok(platform?.uri.endsWith(`/v${version}/${plugin}`));
    const { scripts } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
    const [least] = /\d[\d.]*/.exec(scripts.prepack) ?? [];
    assert.ok(spec.caveats?.includes(`Node ${least} or later`));
  });

  test('unpacked and linked as krew does, the plugin runs as kubectl cni-gate, without the checkout', async () => {
    const [platform] = krewManifest(files).spec.platforms;
    const home = mkdtempSync(join(tmpdir(), 'krew-'));
    const [store, bin] = [join(home, 'store'), join(home, 'bin')];
    for (const path of [store, bin]) mkdirSync(path);
    await run('tar', ['-xzf', join(files, plugin), '-C', store]);
    symlinkSync(join(store, platform?.bin ?? ''), join(bin, 'kubectl-cni_gate'));
    const PATH = [bin, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter);
    const kubectl = (...args: string[]) =>
      spawnSync(programPath('kubectl'), args, { cwd: home, encoding: 'utf8', env: { PATH, HOME: home } });
    const reported = kubectl('cni-gate', '--version');
    assert.deepEqual([reported.stdout, reported.stderr], [`${version}\n`, '']);
    const review = kubectl('cni-gate', 'review', '-f', join(checkout, 'examples'), '--strict', '--summary');
    assert.equal(review.status, 0, review.stderr);
    assert.match(review.stdout, /^injected Deployment shop\/web /m);
    const status = kubectl('cni-gate', 'status', '--kubeconfig', '/nowhere');
    assert.deepEqual([status.status, status.stdout], [2, '']);
    assert.match(status.stderr, /CNI_GATE_CLUSTER_CONFIG/);
    assert.match(kubectl('plugin', 'list').stdout, /\/kubectl-cni_gate$/m);
  });
});

interface KrewManifest {
  metadata: { name: string };
  spec: {
    version: string;
    shortDescription: string;
    caveats?: string;
    platforms: { uri: string; sha256: string; bin: string }[];
  };
}

const krewManifest = (files: string): KrewManifest =>
  parse(readFileSync(join(files, 'cni-gate-krew.yaml'), 'utf8'));

test('a tag with another version stops the release', () =>
  assert.rejects(runSteps(releasedCheckout(), 'v99.0.0'), /The tag is v99\.0\.0, and package\.json has/));
