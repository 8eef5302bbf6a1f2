import { cpSync, mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { run } from '../support/run.ts';

/**
 * Puts into a folder what the Dockerfile takes from a base image. No registry is asked: Node is the one that runs
 * this, and the libraries are the machine's.
 *
 * @throws Error for an image that is not known here
 */
export async function layBase(image: string, root: string): Promise<void> {
  if (image.startsWith('node:')) return copyInto(root, '/usr/local/bin/node', process.execPath);
  if (image.startsWith('gcr.io/distroless/cc-')) return layDistroless(root);
  throw new Error(`the Dockerfile begins a stage with ${image}, which tests/image/bases.ts does not know`);
}

/** The linker and libraries that Node needs, the folders of every such image, and its users. */
async function layDistroless(root: string): Promise<void> {
  for (const library of await librariesOf(process.execPath)) {
    copyInto(root, library, realpathSync(library));
  }
  for (const folder of ['dev', 'etc', 'home/nonroot', 'proc', 'run', 'sys', 'var']) {
    mkdirSync(join(root, folder), { recursive: true });
  }
  mkdirSync(join(root, 'tmp'), { mode: 0o1777 });
  writeFileSync(join(root, 'etc/passwd'), 'nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n');
  writeFileSync(join(root, 'etc/group'), 'nonroot:x:65532:\n');
}

/** `ldd` names them as the linker looks for them: `libm.so.6 => /lib/libm.so.6 (0x…)`, or the linker by its path. */
async function librariesOf(program: string): Promise<string[]> {
  const lines = (await run('ldd', [program])).split('\n');
  return lines.flatMap((line) => /(\/\S+) \(0x/.exec(line)?.[1] ?? []);
}

function copyInto(root: string, path: string, source: string): void {
  const target = join(root, path);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(source, target, { mode: 0 });
  if (basename(target) === '') throw new Error(`no file: ${path}`);
}
