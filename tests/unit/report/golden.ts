import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';

/** Asserts that a text equals a file in `golden/`. `UPDATE_GOLDEN=1 npm test` writes the file. */
export function compareGolden(name: string, given: string): void {
  // replaces the names of the profiles, so that a new profile changes no golden file
  const text = given.replaceAll(/(the configuration has:).*?(?=Label)/gs, '$1 PROFILES. ');
  const file = new URL(`./golden/${name}`, import.meta.url);
  if (process.env.UPDATE_GOLDEN) writeFileSync(file, text);
  assert.equal(text, readFileSync(file, 'utf8'));
}
