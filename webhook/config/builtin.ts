import { readdirSync, readFileSync } from 'node:fs';
import { parseChecked } from './parse.ts';
import { profileFaults } from './rules.ts';
import { validateProfile } from './schema.ts';
import type { Profile } from './types.ts';

const folder = new URL('./profiles/', import.meta.url);
let parsed: Profile[] | undefined;

/** The profiles that come with this release: the files of `profiles/`, in the order of their names. */
export function builtInProfiles(): Profile[] {
  parsed ??= readdirSync(folder)
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => {
      const text = readFileSync(new URL(name, folder), 'utf8');
      return parseChecked(text, `profiles/${name}`, validateProfile, (profile) => profileFaults(profile, []));
    });
  return parsed;
}
