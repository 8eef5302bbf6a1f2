import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { mortal } from '../../support/mortal.ts';
import { run } from '../../support/run.ts';
import { moduleFolder } from './cache.ts';
import { builtAs } from './programs.ts';

/** Builds the programs into the folder of its argument. Run by `ensure.ts`, one process at a time. */
const folder = process.argv[2] ?? '';
// another run may have built them while this one waited for its turn
if (!existsSync(folder)) await build();

async function build(): Promise<void> {
  const prefix = `${basename(folder)}.new-`;
  await removeRemains(prefix);
  const unfinished = await mkdtemp(join(dirname(folder), prefix));
  try {
    await compile(unfinished);
    for (const [name, built] of Object.entries(builtAs)) {
      await rename(join(unfinished, built), join(unfinished, name));
    }
    await rename(unfinished, folder);
  } finally {
    await rm(unfinished, { recursive: true, force: true });
  }
}

/** What a build that was killed left behind. The lock says that no other build runs. */
async function removeRemains(prefix: string): Promise<void> {
  for (const name of await readdir(dirname(folder))) {
    if (name.startsWith(prefix)) await rm(join(dirname(folder), name), { recursive: true, force: true });
  }
}

async function compile(into: string): Promise<void> {
  const version = (
    await run('go', ['-C', moduleFolder, 'list', '-m', '-f', '{{.Version}}', 'k8s.io/kubernetes'])
  ).trim();
  const [major = '', minor = ''] = version.slice(1).split('.');
  const stamp = Object.entries({
    gitVersion: version,
    gitMajor: major,
    gitMinor: minor,
    gitTreeState: 'clean',
  });
  const stamps = stamp.map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  console.error(`Building Kubernetes ${version} from Go modules, once: about 5 minutes on two cores.`);
  const args = ['-C', moduleFolder, 'build', '-v', '-trimpath', '-o', `${into}/`];
  const child = spawn(...mortal('go', [...args, `-ldflags=-s -w ${stamps.join(' ')}`, 'tool']), {
    stdio: ['ignore', 'inherit', 'pipe'],
    env: { ...process.env, CGO_ENABLED: '0' },
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const tail = reportProgress(child.stderr);
  child.on('error', reject);
  child.on('close', (code, signal) => {
    if (code === 0) return resolve();
    reject(new Error(`go build ended with ${code ?? signal}:\n${tail.join('\n')}`));
  });
  return promise;
}

/** Says every 10 s how far Go is, which names each package on a line of its own; returns its latest lines. */
function reportProgress(lines: NodeJS.ReadableStream): string[] {
  const tail: string[] = [];
  const since = performance.now();
  let packages = 0;
  let modules = 0;
  const timer = setInterval(() => {
    const seconds = Math.round((performance.now() - since) / 1000);
    console.error(`${seconds} s: ${modules} modules fetched, ${packages} packages compiled`);
  }, 10_000);
  createInterface(lines)
    .on('line', (line) => {
      if (line.startsWith('go: downloading')) modules += 1;
      else packages += 1;
      tail.push(line);
      if (tail.length > 20) tail.shift();
    })
    .on('close', () => clearInterval(timer));
  return tail;
}
