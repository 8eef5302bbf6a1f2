import { validateCommand } from './shared/contract.ts';

/** Wrong usage: of the command line, or of what the injector set. */
export class UsageError extends Error {}

/** The file from which the kubelet reads the message by default (`terminationMessagePath`). */
const defaultTerminationLog = '/dev/termination-log';

/** The usage line, for the help and for errors. */
export const usage = `usage: ${validateCommand} [--termination-log <path>]`;

/** The text of `--help`. All input of the program comes from its environment. */
const help = `${usage}

Runs the checks of CNI_GATE_CHECKS, which the webhook sets, in the pod that it runs in.

  --termination-log <path>  where to write the verdict, as one line of JSON (default: ${defaultTerminationLog})
  -h, --help                this text

Exit codes: 0 all checks passed, 95 the network is wrong, 69 a check could not run, 64 wrong usage.`;

/** Returns the help if the command line requests it and nothing else. */
export function helpFor(args: string[]): string | undefined {
  return args.length === 2 && (args[1] === '--help' || args[1] === '-h') ? help : undefined;
}

/** Returns the path of the termination log. @throws UsageError */
export function readArguments(args: string[]): { terminationLog: string } {
  const [command, ...rest] = args;
  if (command !== validateCommand)
    throw new UsageError(`expected the command ${validateCommand}, got ${command ?? 'none'}; ${usage}`);
  if (rest.length === 0) return { terminationLog: defaultTerminationLog };
  const [option, path, ...more] = rest;
  if (option !== '--termination-log') throw new UsageError(`unknown argument ${option}; ${usage}`);
  if (path === undefined || path === '') throw new UsageError(`${option} needs a path; ${usage}`);
  if (more.length > 0) throw new UsageError(`unknown argument ${more[0]}; ${usage}`);
  return { terminationLog: path };
}
