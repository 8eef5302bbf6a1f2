import { validateCommand } from './contract.ts';

/** Wrong usage: of the command line, or of what the injector set. */
export class UsageError extends Error {}

/** Where the kubelet reads the message from unless the container says otherwise (`terminationMessagePath`). */
const defaultTerminationLog = '/dev/termination-log';

export const usage = `usage: ${validateCommand} [--termination-log <path>]`;

/** What `--help` says. Everything that the program is told comes from its environment. */
const help = `${usage}

Proves the network of the pod that it runs in, as the webhook asked for in CNI_GATE_CHECKS.

  --termination-log <path>  where the verdict goes as one line of JSON (default: ${defaultTerminationLog})
  -h, --help                this text

Exit codes: 0 proved, 95 the network is not what it should be, 69 the proof could not be made, 64 wrong usage.`;

/** The help, where the command line asks for it and for nothing else. */
export function helpFor(args: string[]): string | undefined {
  return args.length === 2 && (args[1] === '--help' || args[1] === '-h') ? help : undefined;
}

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
