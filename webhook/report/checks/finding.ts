import type { ErrorCode } from '../../lib/errors.ts';
import { foundIn, type Observation, type Unknown, unknownIn } from '../facts/observation.ts';

/**
 * - `failed`: something is wrong;
 * - `warning`: it works, with a remark;
 * - `not-known`: a right is missing to see it;
 * - `skipped`: it does not apply here, or nothing in the cluster shows it.
 */
export type CheckResult = 'passed' | 'failed' | 'warning' | 'not-known' | 'skipped';

/** What a check found. */
export interface Finding {
  result: CheckResult;
  /** What was seen, in words. */
  what: string;
  /** What to do; empty where nothing is to be done. */
  hint: string;
  /** Of a check that failed. */
  code: ErrorCode | null;
  /** Whether there is no result where this is not known. */
  essential: boolean;
}

/** How many names a text lists; the rest is counted. */
const mostNames = 5;

/** Texts that one check puts together at most. */
export const mostTexts = 3;

/** What to do about an object that is missing or changed. */
export const applyAgain = 'Apply the overlay again (with Helm: "helm upgrade")';

/** What recreates pods: the command for each of their namespaces. */
export function recreateText(pods: readonly { namespace: string }[]): string {
  const commands = [...new Set(pods.map(({ namespace }) => namespace))].map(
    (namespace) => `kubectl -n ${namespace} rollout restart deployment,statefulset,daemonset`,
  );
  return `Recreate them: ${few(commands, mostTexts, '; ')}`;
}

/** A check that passed. */
export const passed = (what: string): Finding => of('passed', what);

/** A check that failed. @param hint what to do */
export const failed = (code: ErrorCode, what: string, hint: string): Finding => ({
  ...of('failed', what, hint),
  code,
});

/** Something that works, with a remark. */
export const warning = (what: string, hint: string): Finding => of('warning', what, hint);

/** A check that does not apply, or whose subject nothing shows. */
export const skipped = (what: string, hint = ''): Finding => of('skipped', what, hint);

/**
 * A check whose subject may not be read.
 *
 * @param essential whether there is no result without it
 */
export const notKnown = ({ why, right }: Pick<Unknown, 'why' | 'right'>, essential = false): Finding => ({
  ...of('not-known', right === undefined ? why : `${why}: RBAC lacks ${right}`),
  essential,
});

const of = (result: CheckResult, what: string, hint = ''): Finding => ({
  result,
  what,
  hint,
  code: null,
  essential: false,
});

/**
 * Judges what was observed; an object that does not exist counts as no value.
 *
 * @param essential as for {@link notKnown}
 * @param object its kind and name, for where it may not be read
 */
export function judged<T>(
  seen: Observation<T>,
  judge: (found: T | undefined) => Finding,
  essential = false,
  object = '',
): Finding {
  const unknown = unknownIn(seen);
  if (unknown === undefined) return judge(foundIn(seen));
  return notKnown({ ...unknown, why: object === '' ? unknown.why : `${object}: ${unknown.why}` }, essential);
}

/** A number of things: `1 node`, `2 nodes`. */
export const counted = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`;

/** The first names of a list, and how many more there are. */
export function few(names: readonly string[], most = mostNames, between = ', '): string {
  const more = names.length - most;
  return names.slice(0, most).join(between) + (more > 0 ? ` and ${more} more` : '');
}
