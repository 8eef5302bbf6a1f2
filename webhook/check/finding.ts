import type { ErrorCode } from '../lib/errors.ts';
import { foundIn, type Observation, type Unknown, unknownIn } from '../status/installation/facts.ts';
import type { Finding } from './model.ts';

/** How many names a text lists; the rest is counted. */
const mostNames = 5;

/** A check that passed. */
export const passed = (what: string): Finding => of('passed', what);

/** A check that failed. @param hint what to do */
export const failed = (code: ErrorCode, what: string, hint: string): Finding => ({
  ...of('failed', what, hint),
  code,
});

/** Something that works, and that somebody should know. */
export const warning = (what: string, hint: string): Finding => of('warning', what, hint);

/** A check that does not apply, or whose subject nothing shows. */
export const skipped = (what: string, hint = ''): Finding => of('skipped', what, hint);

/**
 * A check whose subject may not be read.
 *
 * @param essential whether there is no verdict without it
 */
export const notKnown = ({ why, right }: Pick<Unknown, 'why' | 'right'>, essential = false): Finding => ({
  ...of('not-known', right === undefined ? why : `${why}: RBAC lacks ${right}`),
  essential,
});

const of = (result: Finding['result'], what: string, hint = ''): Finding => ({
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
 */
export function judged<T>(
  seen: Observation<T>,
  judge: (found: T | undefined) => Finding,
  essential = false,
): Finding {
  const unknown = unknownIn(seen);
  return unknown === undefined ? judge(foundIn(seen)) : notKnown(unknown, essential);
}

/** A number of things: `1 node`, `2 nodes`. */
export const counted = (count: number, thing: string): string => `${count} ${thing}${count === 1 ? '' : 's'}`;

/** The first names of a list, and how many more there are. */
export function few(names: readonly string[], most = mostNames): string {
  const more = names.length - most;
  return names.slice(0, most).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
