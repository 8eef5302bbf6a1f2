import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { labelled, namespaceOf } from '../review/support.ts';
import { folderWith } from '../support/folder.ts';
import { blocks, pages } from '../support/pages.ts';
import { commandsIn } from '../support/workflow-commands.ts';

/* Runs the jobs of the guide. Stand-ins for git and npm install this checkout, which must be built first. */

const checkout = fileURLToPath(new URL('../../', import.meta.url));
const [guide] = pages('docs/guides/review.md');
const jobs = blocks(guide?.text ?? '', 'yaml').map((block) => parse(block));

test('the jobs for GitHub and GitLab report a finding at its file, and fail', (t) => {
  const folder = folderWith(t, {
    'deploy/namespace.yaml': namespaceOf('shop', 'cilium'),
    'deploy/bad.yaml': labelled('misspelled', 'cilium', 'profil'),
  });
  const bin = folderWith(t);
  writeFileSync(join(bin, 'git'), `#!/bin/sh\n[ "$1" = clone ] && ln -sfn '${checkout}' .cni-gate\n`);
  writeFileSync(join(bin, 'npm'), '#!/bin/sh\n[ "$1 $2 $3" = "ci --prefix .cni-gate" ]\n');
  for (const name of ['git', 'npm']) chmodSync(join(bin, name), 0o755);
  const run = (script: string): { status: number | null; stdout: string } =>
    spawnSync('bash', ['-eo', 'pipefail', '-c', script], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH}` },
    });
  const read = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));

  const { steps } = jobs.find(({ on }) => on === 'pull_request').jobs.review;
  const scripts = steps.flatMap((step: { run?: string }) => step.run ?? []);
  const [installed, reviewed, scanned] = scripts.map(run);
  assert.deepEqual([installed.status, reviewed.status, scanned.status], [0, 1, 0]);
  assert.equal(commandsIn(reviewed.stdout).commands[0]?.properties.file, 'deploy/bad.yaml');
  assert.equal(read('cni-gate.sarif').runs[0].results[0].ruleId, 'CNI_GATE_KEY_UNKNOWN');

  const { script, artifacts } = jobs.find((job) => 'cni-gate-review' in job)['cni-gate-review'];
  assert.equal(run(script.join('\n')).status, 1);
  assert.equal(read(artifacts.reports.codequality)[0].location.path, 'deploy/bad.yaml');
});
