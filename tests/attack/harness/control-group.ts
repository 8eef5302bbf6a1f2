import { randomBytes } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { hierarchyOf } from '../../support/cgroups.ts';

const MiB = 1024 * 1024;
const prefix = 'cni-gate-attack-';

/** The memory limit of a replica's container in the manifests, in bytes. */
export const containerMemory = 512 * MiB;

export interface GroupOptions {
  /** Memory limit in bytes, without swap; no limit if absent. */
  memory?: number;
  /** Weight for processor time: the group gets as much as this many busy ordinary processes (default 64). */
  shares?: number;
}

/** A control group that limits memory like a container, and ensures processor time beside a busy attacker. */
export class ControlGroup {
  readonly #memory = hierarchyOf('memory');
  readonly #cpu = hierarchyOf('cpu');
  readonly #name: string;

  constructor(role: string, { memory, shares = 64 }: GroupOptions = {}) {
    removeLeft([this.#memory.path, this.#cpu.path]);
    this.#name = `${prefix}${role}-${randomBytes(4).toString('hex')}`;
    for (const { path, version } of [this.#memory, this.#cpu]) {
      if (version === 2) writeFileSync(join(path, 'cgroup.subtree_control'), '+memory +cpu');
      mkdirSync(join(path, this.#name), { recursive: true });
    }
    if (this.#cpu.version === 2) this.#write('cpu', 'cpu.weight', 100 * shares);
    else this.#write('cpu', 'cpu.shares', 1024 * shares);
    if (memory === undefined) return;
    if (this.#memory.version === 2) {
      this.#write('memory', 'memory.max', memory);
      this.#write('memory', 'memory.swap.max', 0);
    } else {
      this.#write('memory', 'memory.limit_in_bytes', memory);
      this.#write('memory', 'memory.memsw.limit_in_bytes', memory);
    }
  }

  /** The folder of the group's memory files, for {@link memoryOf}. */
  get folder(): string {
    return join(this.#memory.path, this.#name);
  }

  /** Wraps a command so that it joins the group before it runs; the result is arguments for `spawn`. */
  inside([command, args]: readonly [string, readonly string[]]): [string, string[]] {
    const files = [this.#memory, this.#cpu].map(({ path }) => join(path, this.#name, 'cgroup.procs'));
    const joining = files.map((file) => `echo 0 > ${file}`).join(' && ');
    return ['sh', ['-c', `${joining} && exec "$@"`, 'sh', command, ...args]];
  }

  /** Moves this process into the group until it ends, together with all processes that it starts from now on. */
  join(): void {
    const procs = [this.#memory, this.#cpu].map(({ path }) => [path, join(path, this.#name)] as const);
    for (const [, group] of procs) writeFileSync(join(group, 'cgroup.procs'), String(process.pid));
    process.once('exit', () => {
      for (const [root, group] of procs) {
        if (!existsSync(group)) continue;
        writeFileSync(join(root, 'cgroup.procs'), String(process.pid));
        tryRemove(group);
      }
    });
  }

  async remove(): Promise<void> {
    for (const { path } of [this.#memory, this.#cpu]) {
      // after a process has ended, the kernel may need a moment to remove the process from its group
      for (let tries = 0; existsSync(join(path, this.#name)) && tries < 100; tries++) {
        if (!tryRemove(join(path, this.#name))) await sleep(20);
      }
    }
  }

  #write(controller: 'cpu' | 'memory', file: string, value: number): void {
    const { path } = controller === 'cpu' ? this.#cpu : this.#memory;
    const whole = join(path, this.#name, file);
    // a kernel without swap accounting has no file for swap
    if (existsSync(whole)) writeFileSync(whole, String(value));
  }
}

export interface GroupMemory {
  /** Memory in use in bytes, as the kubelet counts: without inactive file cache, which can be reclaimed. */
  used: number;
  /** How many processes the kernel killed because the group reached its limit. */
  killed: number;
}

export function memoryOf(folder: string): GroupMemory {
  const v2 = existsSync(join(folder, 'memory.current'));
  const read = (file: string): string => readFileSync(join(folder, file), 'utf8');
  const field = (text: string, name: string): number =>
    Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0);
  const used = Number(read(v2 ? 'memory.current' : 'memory.usage_in_bytes'));
  const cached = field(read('memory.stat'), v2 ? 'inactive_file' : 'total_inactive_file');
  return {
    used: used - cached,
    killed: field(read(v2 ? 'memory.events' : 'memory.oom_control'), 'oom_kill'),
  };
}

/** Removes the groups of killed runs: groups that are an hour old and have no processes. */
function removeLeft(hierarchies: string[]): void {
  const anHourAgo = Date.now() - 3_600_000;
  for (const hierarchy of new Set(hierarchies)) {
    for (const name of readdirSync(hierarchy)) {
      const folder = join(hierarchy, name);
      if (name.startsWith(prefix) && (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? 0) < anHourAgo)
        tryRemove(folder);
    }
  }
}

function tryRemove(folder: string): boolean {
  try {
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}
