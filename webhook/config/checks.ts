import type { Check, CheckName, CheckSettings } from '../../validator/contract.ts';

/** The word and the settings of a check. The schema sees to it that there is exactly one. */
export function wordOf(check: Check): CheckName {
  return Object.keys(check)[0] as CheckName;
}

/** The settings of every check of one word, in order. */
export function settingsOf<Name extends CheckName>(checks: Check[], name: Name): CheckSettings[Name][] {
  return checks.flatMap((check) =>
    wordOf(check) === name ? [(check as Record<Name, CheckSettings[Name]>)[name]] : [],
  );
}
