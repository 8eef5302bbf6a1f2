/** A command for `spawn` that the kernel kills when the process that starts it is gone. */
export function mortal(command: string, args: readonly string[]): [command: string, args: string[]] {
  return ['setpriv', ['--pdeathsig=KILL', '--', command, ...args]];
}
