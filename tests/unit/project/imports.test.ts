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
  ['webhook/lib/', '../inject/decide.ts'],
  ['webhook/admission/', '../server/serve.ts'],
  ['webhook/inject/', '../view/from-cluster.ts'],
  ['webhook/inject/', 'node:fs'],
  ['webhook/inject/', 'fastify'],
  ['webhook/readiness/', '../view/from-cluster.ts'],
  ['webhook/gate/', '../kubernetes/client.ts'],
  ['webhook/evidence/', '../kubernetes/client.ts'],
  ['webhook/evidence/', '../view/sources.ts'],
  ['webhook/scheduling/', '../server/serve.ts'],
  ['webhook/steer/', '../kubernetes/client.ts'],
  ['webhook/steer/', './steering.ts'],
  ['webhook/gate/', '../steer/steering.ts'],
  ['webhook/events/', '../steer/plan.ts'],
  ['webhook/repair/', '../view/from-cluster.ts'],
  ['webhook/report/', '../repair/plan.ts'],
  ['webhook/events/', '../report/watch.ts'],
  ['webhook/steer/', '../events/notices.ts'],
  ['webhook/steer/', 'node:timers/promises'],
  ['webhook/status/', './collect/list.ts'],
  ['webhook/status/', 'node:fs'],
  ['webhook/status/', '../check/report.ts'],
  ['webhook/check/', './collect/pre.ts'],
  ['webhook/check/', '../kubernetes/client.ts'],
  ['webhook/check/', 'node:fs'],
  ['webhook/check/collect/', '../../review/review.ts'],
  ['webhook/readiness/', '../status/model.ts'],
  ['webhook/dashboard/', '../status/collect/list.ts'],
  ['webhook/dashboard/', 'fastify'],
  ['webhook/dashboard/', 'node:fs'],
  ['webhook/status/', '../dashboard/model.ts'],
  ['webhook/config/', '../inject/decide.ts'],
  ['webhook/server/', '@kubernetes/client-node'],
  ['webhook/kubernetes/', '../server/serve.ts'],
  ['webhook/kubernetes/', '../steer/plan.ts'],
  ['webhook/kubernetes/reflector/', '../../../tests/support/reviews.ts'],
  ['webhook/view/', '../status/collect/list.ts'],
  ['webhook/review/', '../server/serve.ts'],
  ['webhook/server/', '../../certs/managed.ts'],
  ['webhook/inject/', '../../certs/plan.ts'],
  ['webhook/review/', '../../certs/show.ts'],
  ['webhook/config/', '../../certs/show.ts'],
  ['webhook/kubernetes/', '../../certs/plan.ts'],
  ['certs/', '../webhook/commands/managed.ts'],
  ['certs/', '../webhook/kubernetes/client.ts'],
  ['certs/', './api.ts'],
  ['certs/', 'node:fs'],
  ['certs/', 'fastify'],
  ['validator/', '../webhook/lib/names.ts'],
  ['validator/shared/', '../../webhook/lib/names.ts'],
  ['validator/', 'yaml'],
  ['validator/', 'node:fs'],
  ['validator/checks/', '../node/dial.ts'],
  ['validator/checks/', '../host/native.ts'],
  ['validator/host/', 'node:fs'],
  ['validator/host/', '../node/dial.ts'],
  ['validator/host/', '../../webhook/lib/names.ts'],
  ['validator/node/', 'yaml'],
  ['webhook/server/', '../../tests/support/reviews.ts'],
];

const allowed: [folder: string, source: string][] = [
  ['webhook/kubernetes/', '@kubernetes/client-node'],
  ['webhook/view/', '../admission/namespaces.ts'],
  ['webhook/status/collect/', '../../kubernetes/client.ts'],
  ['webhook/steer/', '../gate/gate-pod.ts'],
  ['webhook/steer/', '../events/notice.ts'],
  ['webhook/repair/', '../evidence/facts.ts'],
  ['webhook/server/', '../inject/mutate.ts'],
  ['webhook/status/', '../readiness/readiness.ts'],
  ['webhook/check/', '../status/verbs.ts'],
  ['webhook/check/', '../review/mesh/meshes.ts'],
  ['webhook/check/collect/', '../../kubernetes/client.ts'],
  ['webhook/dashboard/', '../status/model.ts'],
  ['webhook/inject/', './status-annotation.ts'],
  ['webhook/server/', '../../certs/sources.ts'],
  ['certs/', '../webhook/lib/names.ts'],
  ['webhook/admission/', '../../validator/shared/contract.ts'],
  ['validator/checks/', '../platform.ts'],
  ['validator/node/', 'node:fs'],
  ['validator/host/', '../shared/addresses.ts'],
];

test('imports run one way, and the linter keeps it', () => {
  const probes = [...refused, ...allowed];
  const expected = refused.map(([into], index) => `${into}probe${index}.ts`);
  assert.deepEqual(refusedBy(probes).toSorted(), expected.toSorted());
});
