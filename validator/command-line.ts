import { validateCommand } from './contract.ts';

/** Wrong usage: of the command line, or of what the injector set. */
export class UsageError extends Error {}

/** Where the kubelet reads the message from unless the container says otherwise (`terminationMessagePath`). */
const defaultTerminationLog = '/dev/termination-log';

export const usage = `usage: ${validateCommand} [--termination-log <path>]`;

/** The path of the termination log. @throws UsageError */
export function readArguments(args: string[]): { terminationLog: string } {
  const [command, ...rest] = args;
  if (command !== validateCommand) throw new UsageError(`${command ?? 'no command'}: ${usage}`);
  if (rest.length === 0) return { terminationLog: defaultTerminationLog };
  const [option, path, ...more] = rest;
  if (option !== '--termination-log' || path === undefined || path === '' || more.length > 0)
    throw new UsageError(`${rest.join(' ')}: ${usage}`);
  return { terminationLog: path };
}
