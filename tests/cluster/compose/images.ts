import { readStages } from '../../image/dockerfile.ts';
import type { Mount } from '../../support/container/container.ts';
import type { Program } from '../binaries/programs.ts';
import { programPath } from '../harness/programs.ts';
import { checkout } from './file.ts';

/** What stands in for an image: its files, how it begins where the file does not say, and as whom. */
export interface Image {
  mounts: Mount[];
  entrypoint: string[];
  uid: number;
}

const own = readStages().at(-1)?.settings ?? new Map<string, string[]>();

/** The sources in place of what is built from them. */
const source = (path: string): string => path.replace('/app/dist/webhook/main.js', '/app/webhook/main.ts');

/**
 * @throws Error for an image that is not known here
 */
export function imageOf(name: string): Image {
  if (name === 'cni-gate') {
    return {
      mounts: [
        ...['/usr/lib', '/lib', '/lib64'].map((path): Mount => [path, path]),
        [checkout, '/app'],
        [process.execPath, '/usr/local/bin/node'],
      ],
      entrypoint: (own.get('ENTRYPOINT') ?? []).map(source),
      uid: Number(own.get('USER')?.[0]?.split(':')[0]),
    };
  }
  const program = /^registry\.k8s\.io\/(?:kwok\/)?([a-z-]+):v?\d+\.\d+\.\d+(-\d+)?$/.exec(
    name,
  )?.[1] as Program;
  if (program === undefined)
    throw new Error(`docker-compose.yml names image ${name}, which is not known here`);
  const path = program === 'kubectl' ? '/bin/kubectl' : `/usr/local/bin/${program}`;
  // as their Dockerfiles have it; the file gives an entrypoint where an image has another
  return { mounts: [[programPath(program), path]], entrypoint: [path], uid: 0 };
}
