import { type Check, type CheckName, env, type ProfileCheck, validateCommand } from './shared/contract.ts';
import { parseDuration } from './shared/duration.ts';
import { parseTarget, unfitTargets } from './shared/targets.ts';

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

/** A requested check, with its time-out in milliseconds. */
export interface AskedCheck {
  profile: string;
  word: CheckName;
  check: Check;
  timeout: number;
}

interface Rule {
  fits: (value: unknown) => boolean;
  is: string;
  optional?: true;
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isPort = (value: unknown): boolean => isNumber(value) && value >= 1 && value <= 65_535;
const isNumber = (value: unknown): value is number => Number.isInteger(value);
const isTarget = (value: unknown): boolean => isText(value) && parseTarget(value) !== undefined;
const isList = (value: unknown, fits: (item: unknown) => boolean): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(fits);

const oneOf = (...words: unknown[]): Rule => ({
  fits: (value) => words.includes(value),
  is: words.join(' or '),
});
const port: Rule = { fits: isPort, is: 'a port, 1 to 65535' };
const userId: Rule = { fits: (value) => isNumber(value) && value >= 0, is: 'a user id', optional: true };
const groupId: Rule = { ...userId, is: 'a group id' };
const targets: Rule = { fits: (value) => isList(value, isTarget), is: 'a list of address:port' };
const timeout: Rule = {
  fits: (value) => isText(value) && parseDuration(value) !== undefined,
  is: 'a duration such as 500ms, 10s or 2m',
};

/** The settings of each check, as in `contract.ts`. */
const words: Record<CheckName, Record<string, Rule>> = {
  redirect: {
    direction: oneOf('outbound', 'inbound'),
    listen: port,
    connect: targets,
    asUser: userId,
    asGroup: groupId,
    notAsUser: userId,
    notAsGroup: groupId,
    families: { ...oneOf('first', 'all'), optional: true },
    timeout,
  },
  captured: {
    listeners: { fits: (value) => isList(value, isPort), is: 'a list of ports' },
    outbound: port,
    connect: targets,
    timeout,
  },
  interfaces: { timeout },
  address: { timeout },
  gateway: { required: { ...oneOf(true), optional: true }, timeout },
  roundTrip: { mode: oneOf('require', 'prefer'), timeout },
  witness: { port, inbound: { ...port, optional: true }, timeout },
  reach: { host: { fits: isText, is: 'a host name or address' }, port, timeout },
};

/**
 * Reads the checks that the injector requested. Refuses what it does not understand: a proof that omits a requested
 * check would pass for the wrong reason.
 *
 * @throws UsageError
 */
export function readChecks(text: string | undefined): AskedCheck[] {
  if (!text) throw new UsageError(`${env.checks} is not set: there is nothing to prove`);
  const list = parseJson(text);
  if (!Array.isArray(list) || list.length === 0)
    throw new UsageError(`${env.checks} is not a list of checks with anything in it`);
  return list.map((item, index) => readCheck(item, `${env.checks}[${index}]`));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // without the engine's message, which differs between engines
    throw new UsageError(`${env.checks} is not JSON: it begins with ${JSON.stringify(text.slice(0, 40))}`);
  }
}

function readCheck(item: unknown, at: string): AskedCheck {
  if (!isObject(item) || !isText(item.profile)) throw new UsageError(`${at} has no profile`);
  const { profile, ...rest } = item;
  const [word, ...others] = Object.keys(rest);
  if (word === undefined || others.length > 0) throw new UsageError(`${at} has not exactly one check`);
  if (!Object.hasOwn(words, word))
    throw new UsageError(`${at}: unknown check ${word} (this program may be older than its injector)`);
  const settings = rest[word];
  if (!isObject(settings)) throw new UsageError(`${at}.${word} is not an object`);
  checkSettings(settings, words[word as CheckName], `${at}.${word}`);
  const known = item as ProfileCheck;
  // such a target would pass for the wrong reason
  const [unfit] = unfitTargets(known);
  if (unfit !== undefined) throw new UsageError(`${at}.${word}.connect[${unfit.place}]: ${unfit.text}`);
  return {
    profile,
    word: word as CheckName,
    check: known,
    timeout: parseDuration(String(settings.timeout)) ?? 0,
  };
}

function checkSettings(settings: Record<string, unknown>, rules: Record<string, Rule>, at: string): void {
  for (const name of Object.keys(settings))
    if (!Object.hasOwn(rules, name))
      throw new UsageError(`${at}: unknown setting ${name} (this program may be older than its injector)`);
  for (const [name, { fits, is, optional }] of Object.entries(rules)) {
    const value = settings[name];
    if (value === undefined ? !optional : !fits(value))
      throw new UsageError(`${at}.${name} is not ${is}: ${JSON.stringify(value) ?? 'missing'}`);
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
