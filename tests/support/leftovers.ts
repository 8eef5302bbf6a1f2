import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Names in a folder that belong to runs that were killed: a prefix and the id of their process. */
export function leftovers(folder: string, prefix: string): string[] {
  return readdirSync(folder).filter(
    (name) => name.startsWith(prefix) && !existsSync(join('/proc', name.slice(prefix.length))),
  );
}
