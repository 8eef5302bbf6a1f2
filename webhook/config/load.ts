import { validatorImage } from '../lib/images.ts';
import { builtInKinds, builtInProfiles } from './builtin.ts';
import type { Fault } from './explain.ts';
import { parseChecked } from './parse.ts';
import { profileFaults } from './rules.ts';
import { validateConfiguration } from './schema.ts';
import { joinKinds, templateKindFaults } from './template-kinds.ts';
import type { Configuration } from './types.ts';

/**
 * Parses a configuration, and adds defaults and built-in profiles.
 *
 * @param image the image to inject if the text names none
 * @throws CniGateError as {@link parseChecked}
 */
export function parseConfiguration(text: string, file: string, image = validatorImage): Configuration {
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
  value.review.kinds = joinKinds(builtInKinds(), value.review.kinds);
  return value;
}

function configurationFaults(configuration: Configuration): Fault[] {
  const seen = new Map<string, number>();
  const profiles = configuration.profiles.flatMap((profile, index) => {
    const path = ['profiles', index];
    const first = seen.get(profile.name);
    seen.set(profile.name, first ?? index);
    const twice: Fault[] =
      first === undefined
        ? []
        : [{ path: [...path, 'name'], text: `profile "${profile.name}" is already profiles[${first}]` }];
    return [...twice, ...profileFaults(profile, path)];
  });
  return [...profiles, ...templateKindFaults(configuration.review.kinds, ['review', 'kinds'])];
}

/** The configuration without a file. */
export function defaultConfiguration(image?: string): Configuration {
  const text = '{apiVersion: cni-gate.io/v1alpha1, kind: Configuration}';
  return parseConfiguration(text, 'built-in defaults', image);
}
