import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { before, suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { version } from '../../webhook/lib/version.ts';
import { run } from '../support/run.ts';
import { chart, helm, helmProgram } from './programs.ts';

/* Runs the steps of the release workflow that need neither GitHub nor a network. */

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const workflow = join(checkout, '.github/workflows/release.yml');

interface Workflow {
  jobs: Record<string, { steps: { id?: string; name?: string; run?: string }[] }>;
}

/** A copy of the files that the workflow needs. Its changelog has a section for this version. */
function releasedCheckout(): string {
  const copy = mkdtempSync(join(tmpdir(), 'checkout-'));
  for (const path of ['charts', 'package.json'])
    cpSync(join(checkout, path), join(copy, path), { recursive: true });
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
    ['notes', 'chart', 'checksums'],
  );
  for (const step of named) {
    await run('bash', ['-e', '-o', 'pipefail', '-c', `cd '${folder}'\n${step.run}`], '', env);
  }
}

suite('the files of a release', () => {
  const folder = releasedCheckout();
  const files = join(folder, 'dist-release');
  const packed = `cni-gate-${version}.tgz`;
  before(() => runSteps(folder, `v${version}`));

  test('are all there, with checksums that agree', async () => {
    assert.deepEqual(readdirSync(files).sort(), ['SHA256SUMS', packed, 'notes.md']);
    await run('bash', ['-c', `cd '${files}' && sha256sum --check --strict SHA256SUMS`]);
    assert.match(readFileSync(join(files, 'SHA256SUMS'), 'utf8'), new RegExp(`${packed}$`, 'm'));
    assert.match(readFileSync(join(files, 'notes.md'), 'utf8'), /Helm chart/);
  });

  test('have the chart of the checkout', async () => {
    const template = (from: string): Promise<string> =>
      helm(['template', 'x', from, '--namespace', 'cni-gate']);
    assert.equal(await template(join(files, packed)), await template(chart));
  });
});

test('a tag with another version stops the release', () =>
  assert.rejects(runSteps(releasedCheckout(), 'v99.0.0'), /The tag is v99\.0\.0, and package\.json has/));
