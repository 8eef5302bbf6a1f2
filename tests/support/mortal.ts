/** A command for `spawn`, which the kernel kills when the process that started it ends. */
export function mortal(command: string, args: readonly string[]): [command: string, args: string[]] {
  return ['setpriv', ['--pdeathsig=KILL', '--', command, ...args]];
}
