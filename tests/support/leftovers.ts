import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Names in a folder that are those of runs that were killed: each is a prefix and the id of the process that it
 * belonged to. An id that the kernel has given to another process since is left for another time.
 */
export function leftovers(folder: string, prefix: string): string[] {
  return readdirSync(folder).filter(
    (name) => name.startsWith(prefix) && !existsSync(join('/proc', name.slice(prefix.length))),
  );
}
