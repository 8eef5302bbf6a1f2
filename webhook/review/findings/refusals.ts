import { optedInTo } from '../../inject/profile-selection.ts';
import { CniGateError, type ErrorCode } from '../../lib/errors.ts';
import { profileLabel } from '../../lib/names.ts';
import { withLines } from '../input/locate.ts';
import type { NamespaceObject } from '../input/namespace.ts';
import type { Finding, Reviewed } from '../model.ts';

/**
 * The refusals of which the label of a Namespace is the cause: one for each Namespace, however many workloads it has.
 *
 * @param join throws a CniGateError if a label names no profile
 */
export function namespaceRefusals(
  reviewed: readonly Reviewed[],
  namespaces: ReadonlyMap<string, NamespaceObject>,
  join: (profile: string) => unknown,
): Finding[] {
  return [...namespaces].flatMap(([name, { labels, file, line, at }]) => {
    const fault = faultOf(optedInTo(labels), join);
    if (fault === undefined) return [];
    const workloads = reviewed
      .filter(({ workload, verdict }) => workload.namespace === name && verdict.reason === fault.code)
      .filter(({ verdict }) => verdict.outcome === 'refused' && verdict.message?.includes(fault.message))
      .map(({ workload }) => workload);
    if (workloads.length < 2) return [];
    const path = [...at.path, 'metadata', 'labels', profileLabel];
    const message = `${fault.message}: all ${workloads.length} workloads without a label of their own are refused`;
    const finding = { code: fault.code, message, subject: `Namespace ${name}`, namespace: name, file, line };
    return [{ ...finding, at: { ...at, path }, refuses: new Set(workloads) }];
  });
}

/** Notes in refusals that are about the label of a pod the line of that label. */
export function markLabels(reviewed: readonly Reviewed[]): void {
  const labelled = reviewed.filter(
    ({ verdict }) => verdict.podLabel !== undefined && aboutLabel.has(verdict.reason),
  );
  const places = withLines<Pick<Finding, 'at' | 'line'>>(
    labelled.map(({ workload: { document, path, podPath } }) => ({
      at: { document, path: [...path, ...podPath, 'metadata', 'labels', profileLabel] },
    })),
  );
  for (const [index, { verdict }] of labelled.entries()) {
    const line = places[index]?.line;
    if (line !== undefined) verdict.messageLine = line;
  }
}

const aboutLabel: ReadonlySet<string> = new Set<ErrorCode>([
  'CNI_GATE_PROFILE_UNKNOWN',
  'CNI_GATE_PROFILE_JOIN',
]);

function faultOf(profile: string | undefined, join: (profile: string) => unknown): CniGateError | undefined {
  try {
    if (profile !== undefined) join(profile);
    return undefined;
  } catch (error) {
    if (error instanceof CniGateError) return error;
    throw error;
  }
}
