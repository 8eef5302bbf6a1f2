import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const rules = fileURLToPath(new URL('../../../biome.json', import.meta.url));

/** Those files, each with one import and put into a folder, whose import the project's own linter rules refuse. */
function refusedBy(probes: [into: string, source: string][]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  try {
    copyFileSync(rules, join(folder, 'biome.json'));
    for (const [index, [into, source]] of probes.entries()) {
      const path = join(folder, into, `probe${index}.ts`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, `import * as it from '${source}';\nconsole.log(it);\n`);
    }
    const { stdout } = spawnSync(
      'biome',
      [
        'lint',
        '--only=style/noRestrictedImports',
        '--vcs-enabled=false',
        '--reporter=github',
        '--max-diagnostics=none',
      ],
      { cwd: folder, encoding: 'utf8' },
    );
    return [...stdout.matchAll(/noRestrictedImports,file=([^,]+),/g)].map((match) =>
      relative(folder, match[1] ?? ''),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const refused: [folder: string, source: string][] = [
  ['webhook/admission/', '../server/app.ts'],
  ['webhook/admission/', '../cluster/watch.ts'],
  ['webhook/admission/', 'node:fs'],
  ['webhook/admission/', 'fastify'],
  ['webhook/readiness/', '../cluster/watch.ts'],
  ['webhook/gate/', '../cluster/watch.ts'],
  ['webhook/scheduling/', '../server/app.ts'],
  ['webhook/steer/', '../cluster/steer/steering.ts'],
  ['webhook/steer/', 'node:timers/promises'],
  ['webhook/status/', '../cluster/status/list.ts'],
  ['webhook/status/', 'node:fs'],
  ['webhook/readiness/', '../status/model.ts'],
  ['webhook/config/', '../admission/decide.ts'],
  ['webhook/server/', '@kubernetes/client-node'],
  ['webhook/cluster/', '../server/app.ts'],
  ['webhook/cluster/reflector/', '../../../tests/support/reviews.ts'],
  ['webhook/review/', '../server/app.ts'],
  ['webhook/server/', '../certificates/source.ts'],
  ['webhook/admission/', '../certificates/keeper.ts'],
  ['webhook/review/', '../certificates/show.ts'],
  ['webhook/config/', '../certificates/show.ts'],
  ['webhook/certificates/', '../commands/managed.ts'],
  ['webhook/certificates/', 'fastify'],
  ['certs/', '../webhook/names.ts'],
  ['validator/', '../webhook/names.ts'],
  ['validator/', 'yaml'],
  ['webhook/server/', '../../tests/support/reviews.ts'],
];

const allowed: [folder: string, source: string][] = [
  ['webhook/cluster/', '@kubernetes/client-node'],
  ['webhook/cluster/namespaces/', '../../admission/namespaces.ts'],
  ['webhook/cluster/steer/', '../../steer/plan.ts'],
  ['webhook/steer/', '../gate/pending.ts'],
  ['webhook/server/', '../admission/mutate.ts'],
  ['webhook/status/', '../readiness/readiness.ts'],
  ['webhook/admission/', './status.ts'],
  ['webhook/certificates/', '../cluster/client.ts'],
  ['webhook/certificates/', '../../certs/managed/plan.ts'],
  ['certs/', '../webhook/errors.ts'],
  ['certs/managed/', '../../webhook/errors.ts'],
  ['webhook/admission/', '../../validator/contract.ts'],
];

test('imports run one way, and the linter keeps it', () => {
  const probes = [...refused, ...allowed];
  const expected = refused.map(([into], index) => `${into}probe${index}.ts`);
  assert.deepEqual(refusedBy(probes).toSorted(), expected.toSorted());
});
