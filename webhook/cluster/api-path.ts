import { CniGateError } from '../lib/errors.ts';

/**
 * A template tag for API paths. Each value in the template is encoded as one segment.
 * @throws CniGateError CNI_GATE_CLUSTER_PATH if a value is empty, `.` or `..`: a URL drops such segments, and
 *   would name a different object, or a list
 */
export function apiPath(parts: TemplateStringsArray, ...names: string[]): string {
  return String.raw({ raw: parts }, ...names.map(segment));
}

/** The path of an object, made of its list's path and its name. @throws as {@link apiPath} */
export const pathBelow = (list: string, name: string): string => `${list}/${segment(name)}`;

/** Source: https://url.spec.whatwg.org/#single-dot-path-segment and the two definitions that follow it. */
function segment(name: string): string {
  if (name !== '' && name !== '.' && name !== '..') return encodeURIComponent(name);
  throw new CniGateError(
    'CNI_GATE_CLUSTER_PATH',
    `a request to the API server was not sent: a name in the path is ${JSON.stringify(name)}`,
  );
}
