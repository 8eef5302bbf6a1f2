/**
 * A command as arguments for `spawn`, which the kernel kills when the process that starts it is gone, however that
 * ended. It holds for the command itself, not for what that starts.
 */
export function mortal(command: string, args: readonly string[]): [command: string, args: string[]] {
  return ['setpriv', ['--pdeathsig=KILL', '--', command, ...args]];
}
