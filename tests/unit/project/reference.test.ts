import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { generatedPages } from '../../../release/reference/pages.ts';
import { metricSections } from '../../../release/reference/tables.ts';
import { createProgram } from '../../../webhook/commands/program.ts';
import { documentedLimits } from '../../../webhook/lib/limit.ts';

const text = (name: string): string =>
  readFileSync(new URL(`../../../docs/reference/${name}`, import.meta.url), 'utf8');

suite('the reference has what the code declares', () => {
  for (const [name, generate] of Object.entries(generatedPages)) {
    test(name, () => {
      assert.equal(
        text(name),
        generate(text(name)),
        `docs/reference/${name} is out of date: npm run generate`,
      );
    });
  }
});

/** The blocks of a kind on a page. */
const blocksOf = (name: string, kind: string): string[] =>
  [...text(name).matchAll(new RegExp(`^<!-- generated: ${kind} (.+) -->$`, 'gm'))].map(
    ([, block = '']) => block,
  );

test('the reference has every command', () => {
  const names = createProgram().commands.map((command) => command.name());
  assert.deepEqual(blocksOf('command-line.md', 'flags').toSorted(), names.toSorted());
});

test('the reference has every section of limits', () => {
  assert.deepEqual(blocksOf('limits.md', 'limits').toSorted(), [...documentedLimits.keys()].toSorted());
});

test('the reference has every section of metrics', () => {
  assert.deepEqual(blocksOf('metrics.md', 'metrics').toSorted(), metricSections.toSorted());
});
