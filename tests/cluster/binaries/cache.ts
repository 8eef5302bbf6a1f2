import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../../support/run.ts';

/** The folder of the Go module whose `tool` directives name the programs. */
export const moduleFolder = fileURLToPath(new URL('./', import.meta.url));

const recipe = ['go.mod', 'go.sum', 'build.sh'];

/** The folder, outside the checkout, that keeps the programs. Its name is a hash of all that the build depends on. */
export async function cacheFolder(): Promise<string> {
  const target = await run('go', ['-C', moduleFolder, 'env', 'GOVERSION', 'GOOS', 'GOARCH']);
  const sum = createHash('sha256').update(target);
  for (const file of recipe) sum.update(readFileSync(join(moduleFolder, file)));
  return join(cacheHome(), `control-plane-${sum.digest('hex').slice(0, 16)}`);
}

/** The folder of all the tests' caches: `CNI_GATE_CACHE` if it is set, by default `~/.cache/cni-gate`. */
export function cacheHome(): string {
  const { CNI_GATE_CACHE, XDG_CACHE_HOME } = process.env;
  return CNI_GATE_CACHE || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'cni-gate');
}
