import type { Policy } from '../../core/profiles/policy.ts';
import type { ErrorCode } from '../../lib/errors.ts';
import type { FoundPolicy } from '../observe/configuration.ts';
import type { Observation, Unknown } from '../observe/observation.ts';

/**
 * `warning`: passed, but something should be changed; `not-known`: the caller may not read what the check needs;
 * `skipped`: the check does not apply, or nothing in the cluster shows the result.
 */
export type CheckOutcome = 'passed' | 'failed' | 'warning' | 'not-known' | 'skipped';

/** The result of a check. */
export interface CheckResult {
  result: CheckOutcome;
  /** What the check saw. */
  what: string;
  /** What to do about the result; empty where nothing is to be done. */
  hint: string;
  /** The error code of a check that failed; null for other results. */
  code: ErrorCode | null;
  /** Whether `check` can give no verdict about the installation without this result. */
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
export const notKnown = ({ why, right }: Unknown, essential = false): CheckResult => ({
  ...resultOf('not-known')(right === undefined ? why : `${why}: RBAC lacks ${right}`),
  essential,
});

/** Thrown to end a check early, with this result. */
export class Settled extends Error {
  readonly result: CheckResult;

  constructor(result: CheckResult) {
    super(result.what);
    this.result = result;
  }
}

/** What was found; undefined if it does not exist. @throws Settled as `not-known` if it could not be read */
export function known<T>({ found, unknown }: Observation<T>, essential = false): T | undefined {
  if (unknown) throw new Settled(notKnown(unknown, essential));
  return found;
}

/** The policy of a configuration. @throws Settled as `not-known` if the installation's own could not be used */
export function knownPolicy({ policy, trouble }: FoundPolicy): Policy {
  if (trouble) throw new Settled(notKnown({ why: 'the configuration is not known' }));
  return policy;
}

/** The hint about an object that is missing or changed. */
export const applyAgain = 'Apply the overlay again (with Helm: "helm upgrade")';

export const anotherRelease = 'If another release is installed, run the command of that release';

/** Joins the first texts of a list, and says how many more there are. */
export function few(texts: readonly string[], most = 5, between = ', '): string {
  const more = texts.length - most;
  return texts.slice(0, most).join(between) + (more > 0 ? ` and ${more} more` : '');
}

/** Joins the first three sentences of a list, and says how many more there are. */
export const fewTexts = (texts: readonly string[]): string => few(texts, 3, '; ');

/** The commands that recreate the pods of these namespaces. */
export function recreateText(pods: readonly { namespace: string }[]): string {
  const namespaces = [...new Set(pods.map(({ namespace }) => namespace))];
  return `Recreate them: ${fewTexts(
    namespaces.map((name) => `kubectl -n ${name} rollout restart deployment,statefulset,daemonset`),
  )}`;
}
