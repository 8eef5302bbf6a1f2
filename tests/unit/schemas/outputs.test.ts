import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
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

test('each schema has the address of its own file', () => {
  const names = globSync('*.json', { cwd: join(root, 'schemas') });
  assert.deepEqual(names.toSorted(), ['report.json', 'review.json']);
  const address = 'https://raw.githubusercontent.com/cni-gate/cni-gate/main/schemas/';
  for (const name of names) assert.equal(schema(name).$id, `${address}${name}`);
});
