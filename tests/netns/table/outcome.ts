import type { Message } from '../harness/proof.ts';

/**
 * The content of a cell of the table: `proved`, or the reasons of the checks that did not pass, each with its families
 * where it is not that of all of them.
 */
export function outcomeOf({ checks, verdict }: Message): string {
  const failed = checks.filter((check) => !check.passed);
  const reasons = [...new Set(failed.map((check) => check.reason ?? 'no reason'))];
  if (reasons.length === 0) return verdict;
  return reasons
    .map((reason) => {
      const families = failed.filter((check) => check.reason === reason).map((check) => check.family);
      const words = new Set(failed.filter((check) => check.reason === reason).map((check) => check.check));
      const all = checks.filter((check) => words.has(check.check)).length === families.length;
      const named = families.filter((family) => family !== undefined);
      return all || named.length === 0 ? reason : `${reason} (${named.join(', ')})`;
    })
    .join(', ');
}
