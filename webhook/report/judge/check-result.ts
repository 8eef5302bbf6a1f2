import type { ErrorCode } from '../../lib/errors.ts';
import type { Observation, Unknown } from '../observe/observation.ts';

/**
 * - `failed`: something is wrong;
 * - `warning`: it works, with a remark;
 * - `not-known`: a right is missing to see it;
 * - `skipped`: it does not apply here, or nothing in the cluster shows it.
 */
export type CheckOutcome = 'passed' | 'failed' | 'warning' | 'not-known' | 'skipped';

/** The result of a check. */
export interface CheckResult {
  result: CheckOutcome;
  /** What was seen, in words. */
  what: string;
  /** What to do; empty where nothing is to be done. */
  hint: string;
  /** Of a check that failed. */
  code: ErrorCode | null;
  /** Whether there is no verdict about the installation where this is not known. */
  essential: boolean;
}

const of = (result: CheckOutcome, what: string, hint = ''): CheckResult => ({
  ...{ result, what, hint },
  code: null,
  essential: false,
});

export const passed = (what: string): CheckResult => of('passed', what);
export const warning = (what: string, hint: string): CheckResult => of('warning', what, hint);
export const skipped = (what: string, hint = ''): CheckResult => of('skipped', what, hint);
/** A check that failed. @param hint what to do */
export const failed = (code: ErrorCode, what: string, hint: string): CheckResult => ({
  ...of('failed', what, hint),
  code,
});

/** A check whose subject may not be read. @param essential whether there is no verdict without it */
export const notKnown = ({ why, right }: Pick<Unknown, 'why' | 'right'>, essential = false): CheckResult => ({
  ...of('not-known', right === undefined ? why : `${why}: RBAC lacks ${right}`),
  essential,
});

/**
 * Judges what was observed; an object that does not exist counts as no value.
 *
 * @param essential as for {@link notKnown}
 * @param object its kind and name, for where it may not be read
 */
export function judged<T>(
  { found, unknown }: Observation<T>,
  judge: (found: T | undefined) => CheckResult,
  essential = false,
  object = '',
): CheckResult {
  if (unknown === undefined) return judge(found);
  return notKnown({ ...unknown, why: object === '' ? unknown.why : `${object}: ${unknown.why}` }, essential);
}

/** What to do about an object that is missing or changed. */
export const applyAgain = 'Apply the overlay again (with Helm: "helm upgrade")';

/** Names that a text lists; the rest is counted. */
const mostNames = 5;
/** Texts that a check puts together. */
const mostTexts = 3;

/** The first names of a list, and how many more there are. */
export function few(names: readonly string[], most = mostNames, between = ', '): string {
  const more = names.length - most;
  return names.slice(0, most).join(between) + (more > 0 ? ` and ${more} more` : '');
}

/** The first sentences of a list, and how many more there are. */
export const fewTexts = (texts: readonly string[]): string => few(texts, mostTexts, '; ');

/** A number of things: `1 node`, `2 nodes`. */
export const counted = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`;

/** What recreates pods: the command for each of their namespaces. */
export const recreateText = (pods: readonly { namespace: string }[]): string =>
  `Recreate them: ${fewTexts([
    ...new Set(
      pods.map(({ namespace }) => `kubectl -n ${namespace} rollout restart deployment,statefulset,daemonset`),
    ),
  ])}`;
