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
  if (option !== '--termination-log' || !path || more.length > 0)
    throw new UsageError(`unknown argument ${rest.join(' ')}; ${usage}`);
  return { terminationLog: path };
}

/** A requested check, with its time-out in milliseconds. */
export interface AskedCheck {
  profile: string;
  name: CheckName;
  check: Check;
  timeout: number;
}

/** The bounds of a time-out, in milliseconds, as in webhook/config/configuration.schema.json. */
const timeouts = { least: 100, most: 600_000 };

/** Whether a setting is understood; an optional one may be undefined. */
type Rule = (value: unknown) => boolean;

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isNumber = (value: unknown): value is number => Number.isInteger(value);
const isPort: Rule = (value) => isNumber(value) && value >= 1 && value <= 65_535;
const isTarget: Rule = (value) => isText(value) && parseTarget(value) !== undefined;
const isDuration: Rule = (value) => isText(value) && parseDuration(value) !== undefined;
const listOf =
  (fits: Rule): Rule =>
  (value) =>
    Array.isArray(value) && value.length > 0 && value.every((item) => fits(item));
const oneOf =
  (...values: unknown[]): Rule =>
  (value) =>
    values.includes(value);
const optionalId: Rule = (value) => value === undefined || (isNumber(value) && value >= 0);
const optionalPort: Rule = (value) => value === undefined || isPort(value);

/** The settings of each check, as in `contract.ts`. */
const settingRules: Record<CheckName, Record<string, Rule>> = {
  redirect: {
    direction: oneOf('outbound', 'inbound'),
    listen: isPort,
    connect: listOf(isTarget),
    asUser: optionalId,
    asGroup: optionalId,
    notAsUser: optionalId,
    notAsGroup: optionalId,
    families: oneOf('first', 'all', undefined),
    timeout: isDuration,
  },
  captured: {
    listeners: listOf(isPort),
    outbound: isPort,
    connect: listOf(isTarget),
    timeout: isDuration,
  },
  interfaces: { devices: oneOf(true, undefined), timeout: isDuration },
  address: { timeout: isDuration },
  gateway: { required: oneOf(true, undefined), timeout: isDuration },
  roundTrip: { mode: oneOf('require', 'prefer'), timeout: isDuration },
  witness: {
    port: isPort,
    inbound: optionalPort,
    exempt: (value) => value === undefined || listOf(isText)(value),
    timeout: isDuration,
  },
  reach: { host: isText, port: isPort, timeout: isDuration },
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
  const [name, ...others] = Object.keys(rest);
  if (name === undefined || others.length > 0) throw new UsageError(`${at} has not exactly one check`);
  if (!Object.hasOwn(settingRules, name))
    throw new UsageError(`${at}: unknown check ${name} (this program may be older than its injector)`);
  const settings = rest[name];
  if (!isObject(settings)) throw new UsageError(`${at}.${name} is not an object`);
  checkSettings(settings, settingRules[name as CheckName], `${at}.${name}`);
  const known = item as ProfileCheck;
  // such a target would pass for the wrong reason
  const [unfit] = unfitTargets(known);
  if (unfit !== undefined) throw new UsageError(`${at}.${name}.connect[${unfit.place}]: ${unfit.text}`);
  const timeout = parseDuration(String(settings.timeout)) ?? 0;
  if (timeout < timeouts.least || timeout > timeouts.most)
    throw new UsageError(`${at}.${name}.timeout is not from 100ms to 10m: "${settings.timeout}"`);
  return { profile, name: name as CheckName, check: known, timeout };
}

function checkSettings(settings: Record<string, unknown>, rules: Record<string, Rule>, at: string): void {
  for (const name of Object.keys(settings))
    if (!Object.hasOwn(rules, name))
      throw new UsageError(`${at}: unknown setting ${name} (this program may be older than its injector)`);
  for (const [name, fits] of Object.entries(rules))
    if (!fits(settings[name]))
      throw new UsageError(`${at}.${name} is not understood: ${JSON.stringify(settings[name]) ?? 'missing'}`);
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
