import { Policy } from '../core/profiles/policy.ts';
import type { Configuration, TemplateKind } from '../core/profiles/types.ts';
import { LiveFiles, type LiveFilesOptions, readText } from '../lib/live-files.ts';
import { validatorImage } from '../lib/version.ts';
import { builtInKinds, builtInProfiles } from './builtin.ts';
import type { Fault } from './explain.ts';
import { parseChecked } from './parse.ts';
import { profileFaults, resourceFaults } from './rules.ts';
import { validateConfiguration } from './schema.ts';

/** What a configuration has at least. */
const least = '{apiVersion: cni-gate.io/v1alpha1, kind: Configuration}';

/**
 * Parses a configuration, and adds defaults and built-in profiles.
 *
 * @param text absent: the defaults alone
 * @param file for messages
 * @param image the image to inject if the text names none
 * @throws CniGateError as {@link parseChecked}
 */
export function parseConfiguration(
  text = least,
  file = 'built-in defaults',
  image = validatorImage,
): Configuration {
  const value = parseChecked(text, file, validateConfiguration, configurationFaults);
  value.proof.image ??= image;
  const own = new Set(value.profiles.map((profile) => profile.name));
  const builtIn = builtInProfiles().filter((profile) => !own.has(profile.name));
  const { evidence } = value.gate;
  // who sets it means the built-in profiles as well
  value.profiles = [
    ...(evidence === undefined ? builtIn : builtIn.map((profile) => ({ ...profile, evidence }))),
    ...value.profiles,
  ];
  const { kinds } = value.review;
  const ownKinds = new Set(kinds.map(nameOf));
  value.review.kinds = [...builtInKinds().filter((entry) => !ownKinds.has(nameOf(entry))), ...kinds];
  return value;
}

/** Entries of one kind replace the built-in ones, whatever their version is. */
const nameOf = ({ apiVersion, kind }: TemplateKind): string => `${apiVersion.split('/')[0]} ${kind}`;

function configurationFaults({ profiles, proof }: Configuration): Fault[] {
  const ofProfiles = profiles.flatMap((profile, index) => {
    const path = ['profiles', index];
    const first = profiles.findIndex(({ name }) => name === profile.name);
    const text = `profile "${profile.name}" is already profiles[${first}]`;
    const twice = first === index ? [] : [{ path: [...path, 'name'], text }];
    return [...twice, ...profileFaults(profile, path)];
  });
  return [...resourceFaults(proof.resources), ...ofProfiles];
}

/** The same as {@link parseConfiguration}, prepared for requests. */
export const parsePolicy = (text?: string, file?: string, image?: string): Policy =>
  new Policy(parseConfiguration(text, file, image));

/** Returns the policy of a configuration file, or of the built-in defaults if no file is given. */
export const readPolicy = (path?: string): Policy =>
  parsePolicy(path === undefined ? undefined : readText(path, 'CNI_GATE_CONFIG_UNREADABLE'), path);

/** The same as {@link readPolicy}, again when the file changes. @param image as in {@link parseConfiguration} */
export function livePolicy(
  path: string | undefined,
  image: string | undefined,
  options: Pick<LiveFilesOptions<Policy>, 'onReload' | 'onError' | 'interval'>,
): LiveFiles<Policy> {
  return new LiveFiles({
    ...options,
    paths: path === undefined ? [] : [path],
    unreadable: 'CNI_GATE_CONFIG_UNREADABLE',
    parse: ([text]) => parsePolicy(text, path, image),
  });
}
