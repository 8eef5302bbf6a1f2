import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../webhook/errors.ts';
import { mortal } from '../support/mortal.ts';
import { ensurePrograms } from './binaries/ensure.ts';
import { programs } from './binaries/programs.ts';

/**
 * Runs a command, and everything that it starts, in network, mount and PID namespaces of its own, with the
 * programs of a control plane at hand.
 *
 * usage: node tests/cluster/run.ts COMMAND [ARGUMENT ...]
 *
 * The first process in there ends everything when it ends, and it cannot outlive this one. Its network has a
 * loopback and nothing else. `/run`, and temporary files in it, are a file system of its own.
 */
const command = process.argv.slice(2);
const enter = fileURLToPath(new URL('./enter.sh', import.meta.url));
const namespaces = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];

try {
  if (command.length === 0) throw new Error('usage: node tests/cluster/run.ts COMMAND [ARGUMENT ...]');
  checkMachine();
  // outside, because the build needs the network
  const folders = await ensurePrograms(programs.filter((program) => program !== 'kubelet'));
  runInside(folders);
} catch (error) {
  console.error(messageOf(error));
  process.exitCode = 1;
}

/** @throws Error where the machine has no namespaces for us */
function checkMachine(): void {
  const { status, stderr, error } = spawnSync('unshare', [...namespaces, 'ip', 'link', 'set', 'lo', 'up'], {
    encoding: 'utf8',
  });
  if (status === 0) return;
  throw new Error(
    'NOT RUN: these tests need network, mount and PID namespaces of their own: Linux, root, and the commands unshare ' +
      `and setpriv (util-linux) and ip (iproute2). In a container, --privileged gives them.\n` +
      `Tried was: unshare ${namespaces.join(' ')} ip link set lo up\nIt said: ${error?.message ?? stderr.trim()}\n` +
      `As root: sudo -E env PATH="$PATH" npm run test:cluster`,
  );
}

function runInside(folders: string[]): void {
  const logs = join(tmpdir(), `cni-gate-logs-${Date.now()}-${process.pid}`);
  // a runner that is killed takes unshare with it, which takes the first process inside with it
  const unshare = ['-c', 'CNI_GATE_UNSHARE=$$ exec unshare "$@"', 'unshare', ...namespaces];
  const child = spawn(...mortal('sh', [...unshare, 'bash', enter, ...command]), {
    stdio: 'inherit',
    env: {
      ...process.env,
      PATH: [...folders, process.env.PATH].join(':'),
      CNI_GATE_PROGRAMS: folders.join(':'),
      CNI_GATE_LOGS: logs,
    },
  });
  let stoppedBy: NodeJS.Signals | undefined;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      stoppedBy = signal;
      end(child);
    });
  }
  child.on('close', (code, signal) => {
    // enter.sh puts them there after a failure
    if (existsSync(logs)) console.error(`Logs of the components: ${logs}`);
    if (stoppedBy !== undefined) {
      process.removeAllListeners(stoppedBy);
      process.kill(process.pid, stoppedBy);
    }
    if (signal !== null) console.error(`The run was ended by ${signal}.`);
    process.exitCode = code ?? 1;
  });
}

/** Kills the first process inside rather than unshare, which then ends when all the others are gone. */
function end(unshare: ChildProcess): void {
  const children = readFileSync(`/proc/${unshare.pid}/task/${unshare.pid}/children`, 'utf8').trim();
  if (children === '') unshare.kill('SIGKILL');
  else process.kill(Number(children), 'SIGKILL');
}
