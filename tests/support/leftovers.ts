import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

/** Names in a folder that killed runs left behind. Each name is the prefix, followed by the id of the run's process. */
export function leftovers(folder: string, prefix: string): string[] {
  return readdirSync(folder).filter(
    (name) => name.startsWith(prefix) && !existsSync(join('/proc', name.slice(prefix.length))),
  );
}
