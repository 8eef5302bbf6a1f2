import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { compiledSchemas, schemaModules } from '../../../release/compiled-schemas.ts';
import { folderWith } from '../../support/folder.ts';

const checkout = fileURLToPath(new URL('../../../', import.meta.url));

/** Values for the validators: valid and invalid values, and values to which a validator adds defaults. */
const values: unknown[] = [
  { apiVersion: 'cni-gate.io/v1alpha1', kind: 'Configuration' },
  { kind: 'Configuration', gate: { mode: 'often', maxHold: 7 }, prof: [] },
  { name: 'x', proof: { checks: [{ address: { timeout: '10s' } }] } },
  { name: 'UPPER', daemonSets: [{ namespace: '', name: 4 }], proof: { checks: [{}, { gateway: null }] } },
  JSON.parse(readFileSync(join(checkout, 'tests/reviews/pod-meshed.json'), 'utf8')).request.object,
  { metadata: { labels: { a: 1 } }, spec: { containers: [{}] } },
  null,
];

test("without ajv, the bundle's validators give the same results as those that ajv compiles at run time", async (t) => {
  const folder = folderWith(t);
  let judged = 0;
  for (const module of schemaModules) {
    const outfile = join(folder, `${module.replaceAll('/', '-')}.mjs`);
    const { metafile } = await build({
      absWorkingDir: checkout,
      entryPoints: [module],
      outfile,
      bundle: true,
      metafile: true,
      platform: 'node',
      format: 'esm',
      plugins: [compiledSchemas],
    });
    const packages = Object.keys(metafile.inputs).filter((path) => path.includes('node_modules'));
    assert.ok(
      packages.every((path) => path.includes('ajv/dist/runtime/') || !path.includes('/ajv/')),
      packages.join(' '),
    );
    const compiled = await import(pathToFileURL(outfile).href);
    const original = await import(pathToFileURL(join(checkout, module)).href);
    assert.deepEqual(Object.keys(compiled).sort(), Object.keys(original).sort());
    for (const name of Object.keys(original)) {
      for (const value of values) {
        // a validator writes defaults into its value, so each validator gets a copy
        const [one, other] = [structuredClone(value), structuredClone(value)];
        assert.equal(compiled[name](one), original[name](other), `${name} of ${JSON.stringify(value)}`);
        assert.deepEqual(one, other);
        assert.deepEqual(compiled[name].errors, original[name].errors);
        judged += 1;
      }
    }
  }
  assert.equal(judged, 3 * values.length);
});
