import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import type { Profile, TemplateKind } from '../core/profiles/types.ts';
import { parseChecked } from './parse.ts';
import { profileFaults } from './rules.ts';
import { validateProfile } from './schema.ts';

let profiles: Profile[] | undefined;
let kinds: TemplateKind[] | undefined;

const textOf = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8');

/** The profiles of this release: the files of `profiles/`, sorted by name. */
export function builtInProfiles(): Profile[] {
  profiles ??= readdirSync(new URL('profiles', import.meta.url))
    .filter((name) => name.endsWith('.yaml'))
    .sort()
    .map((name) => `profiles/${name}`)
    .map((path) =>
      parseChecked(textOf(path), path, validateProfile, (profile) => profileFaults(profile, [])),
    );
  return profiles;
}

/** The kinds of other projects that `review` supports: the file `kinds.yaml`. */
export function builtInKinds(): TemplateKind[] {
  kinds ??= parse(textOf('kinds.yaml')) as TemplateKind[];
  return kinds;
}
