import { cpSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../../support/run.ts';

const checkout = fileURLToPath(new URL('../../../', import.meta.url));

/** STOPGAP: the root file system of cni-gate's image. */
export async function imageRoot(root: string): Promise<void> {
  await run('npm', ['run', 'build', '--prefix', checkout]);
  for (const [source, target] of [
    [process.execPath, '/usr/local/bin/node'],
    [join(checkout, 'dist'), '/app/dist'],
    [join(checkout, 'package.json'), '/app/package.json'],
    ...(await run('ldd', [process.execPath])).split('\n').flatMap((line) => {
      const path = /(\/\S+) \(0x/.exec(line)?.[1];
      return path === undefined ? [] : [[path, path]];
    }),
  ] as [string, string][]) {
    mkdirSync(dirname(join(root, target)), { recursive: true });
    cpSync(source, join(root, target), { recursive: true, dereference: true });
  }
  for (const folder of ['dev', 'etc', 'proc', 'run', 'sys', 'var', 'tmp']) mkdirSync(join(root, folder));
}
