import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';

/** Compares a text with a file in `golden/`, which `UPDATE_GOLDEN=1 npm test` writes. */
export function compareGolden(name: string, given: string): void {
  // the names of the profiles are replaced, so that a new profile changes no golden file
  const text = given.replaceAll(/(the configuration has:).*?(?=Label)/gs, '$1 PROFILES. ');
  const file = new URL(`./golden/${name}`, import.meta.url);
  if (process.env.UPDATE_GOLDEN) writeFileSync(file, text);
  assert.equal(text, readFileSync(file, 'utf8'));
}
