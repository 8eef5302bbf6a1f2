import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { docsUrl } from '../../../webhook/lib/names.ts';
import { catalogue, checkIds, checkPage } from '../../../webhook/report/judge/catalogue.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const text = (path: string): string => readFileSync(root + path, 'utf8');

test('each check has a section in the reference, in the order of the report, and no other has', () => {
  const sections = [...text('docs/reference/checks.md').matchAll(/^## (\S+)$/gm)].map(([, name]) => name);
  assert.deepEqual(sections, checkIds);
});

test('the link of each check leads to its section', () => {
  for (const id of checkIds) {
    const [path = '', anchor] = checkPage(id).slice(docsUrl.length).split('#');
    assert.match(text(`docs/${path}`), new RegExp(`^## ${anchor}$`, 'm'));
  }
});

test('the schema has the names and groups of the catalogue', () => {
  const { properties } = JSON.parse(text('schemas/check.json')).properties.checks.items;
  assert.deepEqual(properties.id.enum, checkIds);
  assert.deepEqual(properties.group.enum, [...new Set(Object.values(catalogue).map(({ group }) => group))]);
});
