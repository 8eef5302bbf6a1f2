import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { parse } from 'yaml';
import { parseConfiguration } from '../../../webhook/config/load.ts';
import { head } from '../../support/configurations.ts';

const root = new URL('../../../', import.meta.url);

/** The YAML blocks of a page that are configuration files, or the profiles of one. */
function configurations(text: string): string[] {
  return [...text.matchAll(/^```yaml\n(.*?)^```/gms)].flatMap(([, block = '']) => {
    const value: unknown = parse(block);
    if (typeof value !== 'object' || value === null) return [];
    if ('kind' in value && value.kind === 'Configuration') return [block];
    return 'profiles' in value && !('kind' in value) ? [head + block] : [];
  });
}

suite('every configuration in the documentation is one that is accepted', () => {
  const pages = globSync(['README.md', 'docs/**/*.md'], { cwd: root }).sort();
  const found = pages.flatMap((page) =>
    configurations(readFileSync(new URL(page, root), 'utf8')).map((block) => ({ page, block })),
  );
  test('there are some', () => assert.ok(found.length >= 2));
  for (const { page, block } of found) test(page, () => void parseConfiguration(block, page));
});
