import type { Check, CheckName } from '../../validator/shared/contract.ts';
import type { CheckOfProfile, ProfileSettings } from './types.ts';

/** The name and the settings of a check. The schema guarantees exactly one. */
export function wordOf(check: Check | CheckOfProfile): CheckName {
  return Object.keys(check)[0] as CheckName;
}

/** The settings of every check of one name, in order. */
export function settingsOf<Name extends CheckName>(
  checks: CheckOfProfile[],
  name: Name,
): ProfileSettings[Name][] {
  return checks.flatMap((check) =>
    wordOf(check) === name ? [(check as Record<Name, ProfileSettings[Name]>)[name]] : [],
  );
}
