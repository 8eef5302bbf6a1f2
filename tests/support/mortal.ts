import type { ChildProcess } from 'node:child_process';

/** Wraps a command for `spawn`, so that the kernel kills the command when the process that started it ends. */
export function mortal(command: string, args: readonly string[]): [command: string, args: string[]] {
  return ['setpriv', ['--pdeathsig=KILL', '--', command, ...args]];
}

/** Forwards signals to a child. When the child ends, calls `cleanUp` and ends in the same way as the child. */
export function endAs(child: ChildProcess, cleanUp: () => void): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => child.kill(signal));
  }
  child.on('close', (code, signal) => {
    cleanUp();
    if (signal === null) {
      process.exitCode = code ?? 1;
      return;
    }
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
}
