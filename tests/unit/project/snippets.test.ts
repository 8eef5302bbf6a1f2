import assert from 'node:assert/strict';
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
