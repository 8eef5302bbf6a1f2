import type { Policy } from '../../core/profiles/policy.ts';
import type { ErrorCode } from '../../lib/errors.ts';
import type { FoundPolicy } from '../observe/configuration.ts';
import type { Observation } from '../observe/observation.ts';

/** `warning`: passed, but something should be changed; `not-known`: data for the check could not be read. */
export type Result = 'passed' | 'warning' | 'not-known' | 'failed';

/** What a check found out about one object, or about the whole cluster. */
export interface Finding {
  result: Result;
  /** `namespace/name`, or a name; null for the whole cluster. */
  object: string | null;
  node: string | null;
  /** The state of a network on a node, or of a pod's proof. */
  state: string | null;
  /** Since when, in RFC 3339; null where the time is not known. */
  since: string | null;
  /** What was seen. */
  what: string;
  /** What to do, or what cni-gate does next; empty if there is nothing to say. */
  hint: string;
  /** Numbers of pods or nodes by state; null where nothing is counted. */
  counts: Record<string, number> | null;
  code: ErrorCode | null;
}

type More = Partial<Finding>;

const finding = (result: Result, what: string, more: More = {}): Finding => ({
  result,
  object: null,
  node: null,
  state: null,
  since: null,
  what,
  hint: '',
  counts: null,
  code: null,
  ...more,
});

export const passed = (what: string, more?: More): Finding => finding('passed', what, more);

export const warning = (what: string, hint: string, more?: More): Finding =>
  finding('warning', what, { hint, ...more });

/** @param code null for findings about pods, which no code describes */
export const failed = (code: ErrorCode | null, what: string, hint = '', more?: More): Finding =>
  finding('failed', what, { code, hint, ...more });

export const notKnown = (why: string): Finding => finding('not-known', why);

/** Thrown to end a check early, with this finding. */
export class Settled extends Error {
  readonly finding: Finding;

  constructor(found: Finding) {
    super(found.what);
    this.finding = found;
  }
}

/** What was found; undefined if it does not exist. @throws Settled as `not-known` if it could not be read */
export function known<T>({ found, unknown }: Observation<T>): T | undefined {
  if (unknown !== undefined) throw new Settled(notKnown(unknown));
  return found;
}

/** The policy. @throws Settled as `not-known` if the installation's own configuration could not be used */
export function knownPolicy({ policy, invalid, unknown }: FoundPolicy): Policy {
  if (invalid ?? unknown) throw new Settled(notKnown('the configuration is not known'));
  return policy;
}

/** The hint about an object that is missing or changed. */
export const applyAgain =
  'Apply the overlay again (with Helm: "helm upgrade"). If another release is installed, run the command of that release';

/** Joins the first texts of a list, and says how many more there are. */
export function few(texts: readonly string[], most = 5, between = ', '): string {
  const more = texts.length - most;
  return texts.slice(0, most).join(between) + (more > 0 ? ` and ${more} more` : '');
}

/** The numbers that are not 0, as a text. */
export const countsText = (counts: Record<string, number>): string =>
  Object.entries(counts)
    .flatMap(([state, count]) => (count > 0 ? `${count} ${state}` : []))
    .join(', ');
