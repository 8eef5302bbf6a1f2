/** Wraps a command for `spawn`, so that the kernel kills the command when the process that started it ends. */
export function mortal(command: string, args: readonly string[]): [command: string, args: string[]] {
  return ['setpriv', ['--pdeathsig=KILL', '--', command, ...args]];
}
