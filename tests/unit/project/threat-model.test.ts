import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { suite, test } from 'node:test';
import { pages } from '../../support/pages.ts';

const root = new URL('../../../', import.meta.url);
const [page] = pages('docs/threat-model.md');
const { text = '' } = page ?? {};

/** Cells of each line of the tables, without the heads. */
const lines = text
  .split('\n')
  .filter((line) => line.startsWith('|') && !/^\| (attempt|-+) /.test(line))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

suite('each line of the threat model names what shows it', () => {
  test('there are lines for every attacker', () => assert.ok(lines.length > 30));
  for (const cells of lines) {
    test(`${cells[0]}`, () => {
      const shown = cells[2] ?? '';
      const files = [...shown.matchAll(/`(tests\/[^`]+\.test\.ts)`/g)].map(([, file = '']) => file);
      assert.ok(files.length > 0 || shown.startsWith('not tested: '), shown);
      assert.deepEqual(
        files.filter((file) => !existsSync(new URL(file, root))),
        [],
      );
    });
  }
});

test('every file of the attack suite is named', () => {
  const named = new Set(text.match(/tests\/attack\/[^`]+\.test\.ts/g));
  const [missing] = [pages('tests/attack/**/*.test.ts').filter(({ path }) => !named.has(path))];
  assert.deepEqual(
    missing?.map(({ path }) => path).filter((path) => !/\/nothing\.test\.ts$/.test(path)),
    [],
  );
});
