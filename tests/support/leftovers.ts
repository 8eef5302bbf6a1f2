import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** What killed test runs left in a folder: names that consist of the prefix and the ID of a process that has ended. */
export function leftovers(folder: string, prefix: string): string[] {
  return readdirSync(folder).filter(
    (name) => name.startsWith(prefix) && !existsSync(join('/proc', name.slice(prefix.length))),
  );
}
