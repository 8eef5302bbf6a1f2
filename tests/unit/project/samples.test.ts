import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import { parseConfiguration } from '../../../webhook/config/load.ts';
import { pages } from '../../support/pages.ts';

test('sample outputs of status show the modes that the default overlay sets', () => {
  const overlay = new URL('../../../manifests/overlays/strict/configuration.yaml', import.meta.url);
  const { data } = parse(readFileSync(overlay, 'utf8'));
  const { proof, gate, steer, repair } = parseConfiguration(data['config.yaml'], 'config.yaml');
  const modes: Record<string, string> = {
    prove: proof.mode,
    gate: gate.mode,
    steer: steer.mode,
    repair: repair.mode,
  };
  const shown = pages('README.md', 'docs/**/*.md').flatMap(({ path, text }) =>
    [...text.matchAll(/^(prove|gate|steer|repair) {2,}(\S+)/gm)].map(([, verb = '', mode]) => ({
      path,
      verb,
      mode,
    })),
  );
  assert.notEqual(shown.length, 0);
  const others = shown.filter(({ verb, mode }) => mode !== modes[verb]);
  assert.deepEqual(others, []);
});

test('README.md installs the overlay permissive before strict', () => {
  const [page] = pages('README.md');
  const overlays = [...(page?.text ?? '').matchAll(/kustomize manifests\/overlays\/(\w+)/g)].map(
    ([, name]) => name,
  );
  assert.deepEqual(overlays, ['permissive', 'strict']);
});
