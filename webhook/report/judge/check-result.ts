import type { ErrorCode } from '../../lib/errors.ts';
import type { Observation, Unknown } from '../observe/observation.ts';

/**
 * `warning`: it works, with a remark; `not-known`: a right is missing to see it; `skipped`: it does not apply here, or
 * nothing in the cluster shows it.
 */
export type CheckOutcome = 'passed' | 'failed' | 'warning' | 'not-known' | 'skipped';

/** The result of a check. */
export interface CheckResult {
  result: CheckOutcome;
  /** What was seen. */
  what: string;
  /** What to do; empty where nothing is to be done. */
  hint: string;
  /** Of a check that failed. */
  code: ErrorCode | null;
  /** Whether there is no verdict about the installation where this is not known. */
  essential: boolean;
}

const resultOf =
  (result: CheckOutcome) =>
  (what: string, hint = ''): CheckResult => ({ result, what, hint, code: null, essential: false });

export const passed = resultOf('passed');
export const warning = resultOf('warning');
export const skipped = resultOf('skipped');

export const failed = (code: ErrorCode, what: string, hint: string): CheckResult => ({
  ...resultOf('failed')(what, hint),
  code,
});

/** @param essential see {@link CheckResult} */
export const notKnown = ({ why, right }: Pick<Unknown, 'why' | 'right'>, essential = false): CheckResult => ({
  ...resultOf('not-known')(right === undefined ? why : `${why}: RBAC lacks ${right}`),
  essential,
});

/** Judges what was observed; an object that does not exist counts as no value. */
export const judged = <T>(
  { found, unknown }: Observation<T>,
  judge: (found: T | undefined) => CheckResult,
  essential = false,
): CheckResult => (unknown === undefined ? judge(found) : notKnown(unknown, essential));

/** What to do about an object that is missing or changed. */
export const applyAgain = 'Apply the overlay again (with Helm: "helm upgrade")';

/** The first texts of a list, and how many more there are. */
export function few(texts: readonly string[], most = 5, between = ', '): string {
  const more = texts.length - most;
  return texts.slice(0, most).join(between) + (more > 0 ? ` and ${more} more` : '');
}

/** The same with sentences. */
export const fewTexts = (texts: readonly string[]): string => few(texts, 3, '; ');

/** The commands that recreate pods. */
export function recreateText(pods: readonly { namespace: string }[]): string {
  const namespaces = [...new Set(pods.map(({ namespace }) => namespace))];
  return `Recreate them: ${fewTexts(
    namespaces.map((name) => `kubectl -n ${name} rollout restart deployment,statefulset,daemonset`),
  )}`;
}
