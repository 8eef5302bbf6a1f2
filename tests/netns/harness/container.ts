import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pathOf } from './namespaces.ts';
import type { Sandbox } from './sandbox.ts';

const confine = fileURLToPath(new URL('./confine.sh', import.meta.url));

export interface ContainerStart {
  /** The program's path inside the container. */
  program: string;
  args: string[];
  environment: Record<string, string>;
  user: number;
  group: number;
  /** Files and folders of the machine that are mounted read-only, by their path in the container. */
  mounts: Record<string, string>;
}

export interface ContainerEnd {
  /** The exit code, or 128 plus the number of the signal, as a container runtime reports it. */
  code: number;
  termination: string;
  /** Standard output and standard error, interleaved as written. */
  log: string;
}

export interface RunningContainer {
  started: Promise<void>;
  ended: Promise<ContainerEnd>;
  pid(): number;
  termination(): string;
  /** What the program has written so far. */
  log(): string;
  signal(name: NodeJS.Signals): void;
}

/**
 * Starts a program in the pod's network as a kubelet would under Pod Security `restricted`: with its own user, no
 * capabilities, `no_new_privs`, and a read-only root file system without `/tmp`. Only the seccomp filter of the
 * container runtime is missing.
 */
export function startContainer(sandbox: Sandbox, start: ContainerStart): RunningContainer {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-netns-'));
  const log = join(folder, 'termination-log');
  mkdirSync(join(folder, 'root'));
  writeFileSync(log, '');
  // the kubelet makes the file writable for everybody, because it does not know the container's user
  chmodSync(log, 0o666);
  const child = spawn('nsenter', argumentsFor(sandbox, start, folder, log), {
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    env: { PATH: process.env.PATH },
  });
  sandbox.onRemoval(() => {
    child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });
  return watch(child, log);
}

function argumentsFor(sandbox: Sandbox, start: ContainerStart, folder: string, log: string): string[] {
  const { user, group } = start;
  const environment = {
    PATH: '/usr/local/bin:/usr/bin:/bin',
    HOSTNAME: 'pod',
    HOME: '/',
    ...start.environment,
  };
  return [
    `--net=${pathOf(sandbox.pod)}`,
    'unshare',
    ...['--mount', '--ipc', '--pid', '--fork', '--kill-child'],
    ...['bash', confine, join(folder, 'root'), log, sandbox.shm],
    ...Object.entries(start.mounts).map(([path, from]) => `${from}:${path}`),
    ...['--', 'env', '--ignore-environment'],
    ...Object.entries(environment).map(([name, value]) => `${name}=${value}`),
    ...['setpriv', `--reuid=${user}`, `--regid=${group}`, '--clear-groups', '--no-new-privs'],
    ...['--bounding-set=-all', '--inh-caps=-all', '--ambient-caps=-all'],
    ...['--', start.program, ...start.args],
  ];
}

function watch(child: ChildProcess, log: string): RunningContainer {
  let written = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      written += text;
    });
  }
  const ready = child.stdio[3];
  const started = new Promise<void>((resolve, reject) => {
    ready?.on('data', () => resolve());
    child.once('error', reject);
    child.once('close', () => reject(new Error(`the container was not created:\n${written}`)));
  });
  const ended = new Promise<ContainerEnd>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (code === null) return reject(new Error(`the container was ended by ${signal}:\n${written}`));
      resolve({ code, termination: readFileSync(log, 'utf8'), log: written });
    });
  });
  // the removal of a sandbox ends its container and rejects these promises, even if nobody waits for them
  for (const promise of [started, ended]) promise.catch(() => {});
  return {
    started,
    ended: started.then(() => ended),
    termination: () => readFileSync(log, 'utf8'),
    log: () => written,
    pid: () => programOf(child.pid),
    signal: (name) => {
      process.kill(programOf(child.pid), name);
    },
  };
}

/** The only child of a process, or the process itself if it has none. */
function programOf(pid: number | undefined): number {
  if (pid === undefined) return 0;
  const child = Number(read(`/proc/${pid}/task/${pid}/children`).trim().split(' ')[0]);
  return child > 0 ? child : pid;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
