import assert from 'node:assert/strict';
import { test } from 'node:test';
import checkSchema from '../../../schemas/check.json' with { type: 'json' };
import statusSchema from '../../../schemas/status.json' with { type: 'json' };
import { catalogue, checkIds } from '../../../webhook/report/judge/catalogue.ts';
import { statusOf } from '../../../webhook/report/show/status.ts';
import { now } from '../core/networks/objects.ts';
import { troubled } from './troubled.ts';

test('the schema of check has the names and groups of the catalogue', () => {
  const { properties } = checkSchema.properties.checks.items;
  assert.deepEqual(properties.id.enum, checkIds);
  assert.deepEqual(properties.group.enum, [...new Set(catalogue.map(({ group }) => group))]);
});

test('the schema of status has every field of its JSON, and no other', () => {
  const status = statusOf(troubled(), { now, all: false });
  assert.deepEqual(Object.keys(statusSchema.properties).toSorted(), Object.keys(status).toSorted());
});
