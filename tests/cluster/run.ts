import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../webhook/lib/errors.ts';
import { mortal } from '../support/mortal.ts';
import { ensurePrograms, programs } from './binaries/ensure.ts';

/**
 * Runs a command, and everything that it starts, in its own network, mount and PID namespaces. `PATH` includes the
 * programs of a control plane.
 *
 * usage: npx node tests/cluster/run.ts COMMAND [ARGUMENT ...]
 *
 * When the first process of these namespaces ends, the kernel ends all others in them. The first process cannot outlive
 * this runner. The network has only a loopback. `/run` is a file system of its own, which also holds temporary files.
 */
const command = process.argv.slice(2);
const enter = fileURLToPath(new URL('./enter.sh', import.meta.url));
const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];

try {
  if (command.length === 0) throw new Error('usage: npx node tests/cluster/run.ts COMMAND [ARGUMENT ...]');
  checkMachine();
  // built before the namespaces exist, because the build needs the machine's network
  const folders = await ensurePrograms(programs.filter((program) => program !== 'kubelet'));
  runInside(folders);
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}

function checkMachine(): void {
  const { status, stderr, error } = spawnSync('unshare', [...namespaces, 'ip', 'link', 'set', 'lo', 'up'], {
    encoding: 'utf8',
  });
  if (status === 0) return;
  throw new Error(
    'NOT RUN: these tests need network, mount and PID namespaces of their own: Linux, root, and the commands unshare ' +
      `and setpriv (util-linux) and ip (iproute2). In a container, --privileged gives them.\n` +
      `The command was: unshare ${namespaces.join(' ')} ip link set lo up\nIts error: ${error?.message ?? stderr.trim()}\n` +
      `As root: sudo -E env PATH="$PATH" npm run suite cluster`,
  );
}

function runInside(folders: string[]): void {
  const logs = join(tmpdir(), `cni-gate-logs-${Date.now()}-${process.pid}`);
  // if this runner is killed, unshare ends too, and with unshare the first process of the namespaces
  const unshare = [
    '-c',
    // descriptor 9 refers to the machine's network namespace, for a command that connects its namespace to it
    'CNI_GATE_UNSHARE=$$ CNI_GATE_OUTER_NET=9 exec unshare "$@" 9</proc/self/ns/net',
    'unshare',
    ...namespaces,
  ];
  const child = spawn(...mortal('sh', [...unshare, 'bash', enter, ...command]), {
    stdio: 'inherit',
    env: {
      ...process.env,
      PATH: [...folders, process.env.PATH].join(':'),
      CNI_GATE_PROGRAMS: folders.join(':'),
      CNI_GATE_LOGS: logs,
    },
  });
  let stopped: { signal: NodeJS.Signals; gone: Promise<void> } | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      stopped ??= { signal, gone: end(child) };
    });
  }
  child.on('close', async (code, signal) => {
    // enter.sh copies logs to this folder after a failure
    if (existsSync(logs)) console.error(`Logs of the components: ${logs}`);
    process.exitCode = code ?? 1;
    if (stopped === undefined) {
      if (signal !== null) console.error(`The run was ended by ${signal}.`);
      return;
    }
    await stopped.gone;
    process.removeAllListeners(stopped.signal);
    process.kill(process.pid, stopped.signal);
  });
}

async function end(unshare: ChildProcess): Promise<void> {
  const children = readFileSync(`/proc/${unshare.pid}/task/${unshare.pid}/children`, 'utf8').trim();
  unshare.kill('SIGKILL');
  // The first process is gone only when all others in its namespace are gone. This runner is not its parent, so the
  // runner gets no signal and has to poll.
  while (children !== '' && isAlive(children)) await sleep(10);
}

function isAlive(id: string): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${id}/status`, 'utf8'));
  } catch {
    return false;
  }
}
