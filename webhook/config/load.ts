import { Policy } from '../core/profiles/policy.ts';
import type { Configuration, ConfigurationFile, Profile, TemplateKind } from '../core/profiles/types.ts';
import { isObject } from '../lib/json.ts';
import { LiveFiles, type ReloadListener, readText } from '../lib/live-files.ts';
import { validatorImage } from '../lib/version.ts';
import { builtInKinds, builtInProfiles } from './builtin.ts';
import type { Fault } from './parse.ts';
import { parseChecked } from './parse.ts';
import { profileFaults, resourceFaults } from './rules.ts';
import { validateConfiguration } from './schema.ts';

const least = '{apiVersion: cni-gate.io/v1alpha1, kind: Configuration}';

/**
 * Parses a configuration, and adds defaults and built-in profiles.
 * @param image the image to inject if the configuration names none
 * @throws CniGateError as in {@link parseChecked}
 */
export function parseConfiguration(
  text = least,
  file = 'built-in defaults',
  image = validatorImage,
): Configuration {
  const { gate, review, proof, profiles, ...rest } = parseChecked(
    text,
    file,
    validateConfiguration,
    configurationFaults,
  );
  const names = new Set(profiles.map(({ name }) => name));
  const builtIn = builtInProfiles().filter(({ name }) => !names.has(name));
  const { evidence } = gate;
  // `gate.evidence` of the file also applies to the built-in profiles
  const adjusted = evidence === undefined ? builtIn : builtIn.map((profile) => ({ ...profile, evidence }));
  const kinds = new Set(review.kinds.map(nameOf));
  const builtInKind = builtInKinds().filter((entry) => !kinds.has(nameOf(entry)));
  return {
    ...rest,
    gate,
    proof: { ...proof, image: proof.image ?? image },
    profiles: [...adjusted, ...profiles.map(inOrder)],
    review: { kinds: [...builtInKind, ...review.kinds] },
  };
}

/** The order in which proofs and policies write these fields of a check. All other fields follow. */
const fields =
  'direction listeners listen outbound connect asUser notAsUser notAsGroup blocked allowed'.split(' ');

/** Sorts the keys of each map in `maps`: first those in `first`, in that order, then the others by name. */
function sorted<T extends object>(maps: T, first: string[] = []): T {
  const rank = (key: string): number => (first.includes(key) ? first.indexOf(key) : first.length);
  const sortedMap = (map: object): object =>
    Object.fromEntries(Object.entries(map).toSorted(([a], [b]) => rank(a) - rank(b) || (a < b ? -1 : 1)));
  return Object.fromEntries(
    Object.entries(maps).map(([key, value]) => [key, isObject(value) ? sortedMap(value) : value]),
  ) as T;
}

/**
 * The profile with the settings of its checks and the maps of `when` in a fixed order. Helm sorts keys, and a server
 * that got the file from Helm must agree with a policy that was generated from the unsorted file.
 */
const inOrder = (profile: Profile): Profile => ({
  ...profile,
  when: Array.isArray(profile.when) ? profile.when.map((one) => sorted(one)) : sorted(profile.when),
  proof: { ...profile.proof, checks: profile.proof.checks.map((check) => sorted(check, fields)) },
});

/** The group and kind of an entry. Configured entries replace built-in entries of the same kind, in any version. */
const nameOf = ({ apiVersion, kind }: TemplateKind): string => `${apiVersion.split('/')[0]} ${kind}`;

function configurationFaults({ profiles, proof }: ConfigurationFile): Fault[] {
  const ofProfiles = profiles.flatMap((profile, index) => {
    const path = ['profiles', index];
    const first = profiles.findIndex(({ name }) => name === profile.name);
    const text = `profile "${profile.name}" is already profiles[${first}]`;
    const twice = first === index ? [] : [{ path: [...path, 'name'], text }];
    return [...twice, ...profileFaults(profile, path)];
  });
  return [...resourceFaults(proof.resources), ...ofProfiles];
}

export const parsePolicy = (text?: string, file?: string, image?: string): Policy =>
  new Policy(parseConfiguration(text, file, image));

/**
 * Returns the policy of a configuration file or, without a file, that of the built-in defaults.
 * @param image as in {@link parseConfiguration}
 */
export const readPolicy = (path?: string, image?: string): Policy =>
  parsePolicy(path === undefined ? undefined : readText(path, 'CNI_GATE_CONFIG_UNREADABLE'), path, image);

/** Like {@link readPolicy}, but reads the file again when it changes. @param image as in {@link parseConfiguration} */
export function livePolicy(
  path: string | undefined,
  image: string | undefined,
  listener: ReloadListener,
): LiveFiles<Policy> {
  return new LiveFiles({
    ...listener,
    paths: path === undefined ? [] : [path],
    unreadable: 'CNI_GATE_CONFIG_UNREADABLE',
    parse: ([text]) => parsePolicy(text, path, image),
  });
}
