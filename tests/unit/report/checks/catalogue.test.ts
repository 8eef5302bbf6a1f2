import assert from 'node:assert/strict';
import { test } from 'node:test';
import schema from '../../../../schemas/check.json' with { type: 'json' };
import { catalogue, checkIds } from '../../../../webhook/report/checks/catalogue.ts';

test('the schema has the names and groups of the catalogue', () => {
  const { properties } = schema.properties.checks.items;
  assert.deepEqual(properties.id.enum, checkIds);
  assert.deepEqual(properties.group.enum, [...new Set(Object.values(catalogue).map(({ group }) => group))]);
});
