import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { suite, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createProgram } from '../../../webhook/commands/program.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const schema = (name: string) => JSON.parse(readFileSync(join(root, 'schemas', name), 'utf8'));

test('each command that prints JSON has a schema: check and status have the same', () => {
  const named = createProgram()
    .commands.filter(({ options }) => options.some(({ argChoices }) => argChoices?.includes('json')))
    .map((command) => command.name());
  assert.deepEqual(named.toSorted(), ['check', 'review', 'status']);
});

suite('addresses', () => {
  const base = 'https://raw.githubusercontent.com/cni-gate/cni-gate/main/';

  test('each schema has the address of its own file', () => {
    const names = globSync('*.json', { cwd: join(root, 'schemas') }).filter(
      (name) => name !== 'catalog-entry.json',
    );
    assert.deepEqual(names.toSorted(), ['report.json', 'review.json']);
    for (const name of names) assert.equal(schema(name).$id, `${base}schemas/${name}`);
  });

  test("SchemaStore's entry: the configuration's schema, and file names that no other project uses", () => {
    const { name, description, fileMatch, url, ...rest } = schema('catalog-entry.json');
    assert.deepEqual(rest, {});
    assert.ok(name.length > 0 && description.length > 0 && fileMatch.length > 0);
    for (const pattern of fileMatch) assert.match(pattern, /cni-gate\.ya?ml$/);
    assert.ok(url.startsWith(base));
    const configuration = JSON.parse(readFileSync(join(root, url.slice(base.length)), 'utf8'));
    assert.deepEqual([configuration.title, configuration.$id], ['cni-gate configuration', url]);
  });
});
