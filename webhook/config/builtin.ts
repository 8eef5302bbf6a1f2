import { readdirSync, readFileSync } from 'node:fs';
import { parseChecked } from './parse.ts';
import { profileFaults } from './rules.ts';
import { validateProfile, validateTemplateKinds } from './schema.ts';
import type { Profile, TemplateKind } from './types.ts';

const folder = new URL('./profiles/', import.meta.url);
let parsed: Profile[] | undefined;

/** The profiles of this release: the files of `profiles/`, sorted by name. */
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

let kinds: TemplateKind[] | undefined;

/** The kinds of other projects that `review` supports: the file `kinds.yaml`. */
export function builtInKinds(): TemplateKind[] {
  const name = 'kinds.yaml';
  const text = (): string => readFileSync(new URL(name, import.meta.url), 'utf8');
  kinds ??= parseChecked(text(), name, validateTemplateKinds);
  return kinds;
}
