import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { cacheHome } from '../cluster/binaries/cache.ts';
import { run } from './run.ts';

export class GoProgram {
  /** The path of the built program, in the user's cache. */
  readonly path: string;
  readonly #source: string;

  /** @param packagePath the import path of the program's main package */
  constructor(packagePath: string, version: string) {
    const name = basename(packagePath);
    this.#source = `${packagePath}@${version}`;
    this.path = join(cacheHome(), `${name}-${version}`, name);
  }

  /** Builds the program unless it exists. A build needs the network. */
  async build(): Promise<void> {
    if (existsSync(this.path)) return;
    console.error(`Building ${this.#source}, once: up to 3 minutes on two cores.`);
    await mkdir(dirname(this.path), { recursive: true });
    const folder = await mkdtemp(join(dirname(this.path), 'build-'));
    try {
      const env = { ...process.env, GOBIN: folder, CGO_ENABLED: '0' };
      await run('go', ['install', '-trimpath', '-ldflags=-s -w', this.#source], '', env);
      // if another run has built the program meanwhile, this replaces its file with an equal one
      await rename(join(folder, basename(this.path)), this.path);
    } catch (error) {
      throw new Error(
        `NOT RUN: ${this.#source} cannot be built; it needs Go and the Go module proxy, once.\n${error}`,
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async run(args: string[], input = ''): Promise<string> {
    if (!existsSync(this.path)) throw new Error(`NOT RUN: ${this.path} was not built.`);
    return run(this.path, args, input);
  }
}
