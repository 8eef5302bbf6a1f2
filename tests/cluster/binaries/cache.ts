import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../../support/run.ts';

/** The Go module that names the programs as its tools. */
export const moduleFolder = fileURLToPath(new URL('./', import.meta.url));

const recipe = ['go.mod', 'go.sum', 'build.sh'];

/** Where the programs are kept: a folder outside the checkout, named by all that decides what they are. */
export async function cacheFolder(): Promise<string> {
  const target = await run('go', ['-C', moduleFolder, 'env', 'GOVERSION', 'GOOS', 'GOARCH']);
  const sum = createHash('sha256').update(target);
  for (const file of recipe) sum.update(readFileSync(join(moduleFolder, file)));
  return join(cacheHome(), `control-plane-${sum.digest('hex').slice(0, 16)}`);
}

/** Where all caches of the tests are: `CNI_GATE_CACHE` names another place than `~/.cache/cni-gate`. */
export function cacheHome(): string {
  const { CNI_GATE_CACHE, XDG_CACHE_HOME } = process.env;
  return CNI_GATE_CACHE || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'cni-gate');
}
