import {
  type Check,
  type CheckName,
  type Continuous,
  env,
  type ProfileCheck,
  validateCommand,
} from './shared/contract.ts';
import { parseDuration } from './shared/duration.ts';

/** An error in the command line, or in the environment that the webhook set. */
export class UsageError extends Error {}

/** The file from which the kubelet reads the message by default (`terminationMessagePath`). */
const defaultTerminationLog = '/dev/termination-log';

export const usage = `usage: ${validateCommand} [--termination-log <path>]`;

const help = `${usage}

Runs the checks of CNI_GATE_CHECKS, which the webhook sets, in the pod that it runs in.

  --termination-log <path>  where to write the verdict, as one line of JSON (default: ${defaultTerminationLog})
  -h, --help                this text

Exit codes: 0 all checks passed, 95 the network is wrong, 69 a check could not run, 64 wrong usage.`;

/** Returns the help text if the command line requests help and nothing else. */
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
  if (option !== '--termination-log' || !path || more.length > 0)
    throw new UsageError(`unknown argument ${rest.join(' ')}; ${usage}`);
  return { terminationLog: path };
}

/** A check that the environment requests, with its time-out in milliseconds. */
export interface AskedCheck {
  profile: string;
  name: CheckName;
  check: Check;
  timeout: number;
}

/** The settings of each check, as in `contract.ts`: the required ones, and the optional ones. */
const knownSettings: Record<CheckName, [required: string[], optional: string[]]> = {
  redirect: [
    ['direction', 'listen', 'connect'],
    ['families', 'asUser', 'asGroup', 'notAsUser', 'notAsGroup'],
  ],
  captured: [['listeners', 'outbound', 'connect'], []],
  interfaces: [[], ['devices']],
  address: [[], []],
  gateway: [[], ['required']],
  roundTrip: [['mode'], []],
  witness: [['port'], ['inbound', 'exempt']],
  reach: [['host', 'port'], []],
  policy: [['blocked'], ['allowed']],
};

/** The allowed values of some settings. The webhook has checked all others. */
const knownValues: Record<string, unknown[]> = {
  direction: ['outbound', 'inbound'],
  families: ['first', 'all'],
  mode: ['require', 'prefer'],
};

/**
 * Reads the checks that the webhook requested. Refuses unknown checks, and settings that are unknown, missing or empty:
 * a proof without a requested check could pass although the network is wrong.
 * @throws UsageError
 */
export function readChecks(text: string | undefined): AskedCheck[] {
  if (!text) throw new UsageError(`${env.checks} is not set: there is nothing to prove`);
  const list = parseJson(text, env.checks);
  if (!Array.isArray(list) || list.length === 0)
    throw new UsageError(`${env.checks} is not a list of checks with anything in it`);
  return list.map((item, index) => readCheck(item, `${env.checks}[${index}]`));
}

/** The settings of rechecks, with the interval in milliseconds. */
export type Rechecks = Omit<Continuous, 'interval'> & { interval: number };

/**
 * Reads the settings of rechecks; undefined if the pod has none.
 * @throws UsageError
 */
export function readContinuous(text: string | undefined, asked: AskedCheck[]): Rechecks | undefined {
  if (!text) return undefined;
  const settings = parseJson(text, env.continuous);
  if (!isObject(settings)) throw new UsageError(`${env.continuous} is not an object`);
  checkSettings(settings, ['interval', 'failures'], ['port', 'policy'], env.continuous);
  if (!asked.some(({ name }) => name === 'witness'))
    throw new UsageError(`${env.continuous} needs the check witness in ${env.checks}`);
  const { interval, ...others } = settings as unknown as Continuous;
  return { interval: readDuration(interval, `${env.continuous}.interval`), ...others };
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // without the JSON parser's own message, which depends on the JavaScript engine
    throw new UsageError(`${name} is not JSON: it begins with ${JSON.stringify(text.slice(0, 40))}`);
  }
}

function readCheck(item: unknown, at: string): AskedCheck {
  if (!isObject(item) || typeof item.profile !== 'string') throw new UsageError(`${at} has no profile`);
  const { profile, ...rest } = item;
  const [name, ...others] = Object.keys(rest);
  if (name === undefined || others.length > 0) throw new UsageError(`${at} has not exactly one check`);
  if (!Object.hasOwn(knownSettings, name))
    throw new UsageError(`${at}: unknown check ${name} (this program may be older than its injector)`);
  const settings = rest[name];
  if (!isObject(settings)) throw new UsageError(`${at}.${name} is not an object`);
  const [required, optional] = knownSettings[name as CheckName];
  checkSettings(settings, ['timeout', ...required], optional, `${at}.${name}`);
  const timeout = readDuration(settings.timeout, `${at}.${name}.timeout`);
  return { profile, name: name as CheckName, check: item as ProfileCheck, timeout };
}

function readDuration(value: unknown, at: string): number {
  const duration = parseDuration(String(value));
  if (duration === undefined) throw new UsageError(`${at} is no duration: "${value}"`);
  return duration;
}

function checkSettings(
  settings: Record<string, unknown>,
  required: string[],
  optional: string[],
  at: string,
): void {
  for (const name of Object.keys(settings))
    if (![...required, ...optional].includes(name))
      throw new UsageError(`${at}: unknown setting ${name} (this program may be older than its injector)`);
  for (const name of [...required, ...Object.keys(settings)]) {
    const value = settings[name];
    if (!isPresent(value) || knownValues[name]?.includes(value) === false)
      throw new UsageError(`${at}.${name} is not understood: ${JSON.stringify(value) ?? 'missing'}`);
  }
}

/** Whether a setting has a value other than null, an empty string, zero or an empty list. */
const isPresent = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 && value.every(isPresent) : Boolean(value);

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
