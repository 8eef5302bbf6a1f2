import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { parse } from 'yaml';
import { parseConfiguration } from '../../../webhook/config/load.ts';
import { head } from '../../support/configurations.ts';
import { blocks, pages } from '../../support/pages.ts';

/** The YAML blocks of a page that are configuration files, or the profiles of one. */
function configurations(text: string): string[] {
  return blocks(text, 'yaml').flatMap((block) => {
    const value: unknown = parse(block);
    if (typeof value !== 'object' || value === null) return [];
    if ('kind' in value && value.kind === 'Configuration') return [block];
    return 'profiles' in value && !('kind' in value) ? [head + block] : [];
  });
}

suite('every configuration in the documentation is one that is accepted', () => {
  const found = pages('README.md', 'docs/**/*.md').flatMap(({ path, text }) =>
    configurations(text).map((block) => ({ path, block })),
  );
  test('there are some', () => assert.ok(found.length >= 2));
  for (const { path, block } of found) test(path, () => void parseConfiguration(block, path));
});

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
