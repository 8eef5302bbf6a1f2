/** Writes what docs/reference/ says about flags, metrics, limits and error codes from their declarations. */
import { readFileSync, writeFileSync } from 'node:fs';
import { generatedPages } from './pages.ts';

for (const [name, generate] of Object.entries(generatedPages)) {
  const path = new URL(`../../docs/reference/${name}`, import.meta.url);
  writeFileSync(path, generate(readFileSync(path, 'utf8')));
}
