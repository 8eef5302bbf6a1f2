import type { Message, Proof } from '../harness/proof.ts';

/** The content of a cell of the table. */
export interface Outcome {
  code: number;
  reason: string;
}

export function outcomeOf(proof: Proof): Outcome {
  return { code: proof.code, reason: reasonOf(proof.message) };
}

/** The code and the reason, which must not differ between runs. */
export const verdictOf = (outcome: Outcome): string => `${outcome.code} ${outcome.reason}`;

/** The reasons of the checks that did not pass, each with its families where it is not that of all of them. */
function reasonOf({ checks, verdict }: Message): string {
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
