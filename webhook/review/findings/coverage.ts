import { optedInTo } from '../../inject/profile-selection.ts';
import { CniGateError } from '../../lib/errors.ts';
import { profileLabel } from '../../lib/names.ts';
import type { NamespaceObject } from '../input/namespace.ts';
import type { Finding, Reviewed, Workload } from '../model.ts';
import { isNotInInput } from '../summary.ts';

/** What opts namespaces in: their labels, `--profile`, or the server's labels. */
export type OptIn = 'labels' | 'profile' | 'server';

/**
 * Finds what a review did not check: a namespace that opted in and of which no workload gets a check, a namespace that
 * is not in the input, a profile that does not exist. AdmissionReviews of the input do not count: they are single
 * calls.
 *
 * @param found findings about single workloads: one that waits for a mesh already says why nothing is checked
 * @param join throws a CniGateError if a label names no profile; absent if the profiles are unknown
 */
export function coverageFindings(
  reviewed: readonly Reviewed[],
  namespaces: ReadonlyMap<string, NamespaceObject>,
  found: readonly Finding[],
  optIn: OptIn,
  join: ((profile: string) => unknown) | undefined,
): Finding[] {
  const manifests = reviewed.filter(({ workload }) => !workload.given);
  const reported = new Set(
    found.filter(({ code }) => code === 'CNI_GATE_PROXY_MISSING').map(({ workload }) => workload),
  );
  const byNamespace = Map.groupBy(manifests, ({ workload }) => workload.namespace);
  const unchecked = (group: readonly Reviewed[]): boolean =>
    group.length > 0 && !group.some((one) => isChecked(one) || reported.has(one.workload));
  const findings = [...byNamespace].flatMap(([name, group]) => notInInput(name, group));
  if (optIn === 'labels') {
    for (const [name, namespace] of namespaces) {
      const profile = optedInTo(namespace.labels);
      if (profile === undefined) continue;
      const group = byNamespace.get(name) ?? [];
      const fault = group.length === 0 ? faultOf(profile, join) : undefined;
      if (fault !== undefined) findings.push({ ...about(name, namespace), ...fault });
      if (unchecked(group)) findings.push({ ...about(name, namespace), ...noCheck(group, profile) });
    }
  } else {
    // nothing is expected of exempt namespaces, or of those that did not opt in at the server
    const meant = manifests.filter(
      ({ verdict }) => !['exempt-namespace', 'not-opted-in'].includes(verdict.reason),
    );
    const [first] = meant;
    if (first !== undefined && unchecked(meant))
      findings.push({ ...of(first.workload), ...noCheckAtAll(meant) });
  }
  return findings;
}

/** A refusal is reported as such: the pipeline did check something. */
const isChecked = ({ verdict }: Reviewed): boolean => !['skipped', 'removed'].includes(verdict.outcome);

/** A finding about the label with which a Namespace opted in. */
const about = (name: string, { file, line, at }: NamespaceObject): Omit<Finding, 'code' | 'message'> => ({
  subject: `Namespace ${name}`,
  namespace: name,
  file,
  line,
  at: { ...at, path: [...at.path, 'metadata', 'labels', profileLabel] },
});

const of = ({ document, line }: Workload): Omit<Finding, 'code' | 'message'> => ({
  subject: 'the input',
  file: document.file,
  line,
});

type CoverageFault = Pick<Finding, 'code' | 'message'>;

function notInInput(name: string, group: readonly Reviewed[]): Finding[] {
  const missing = group.filter(({ verdict }) => isNotInInput(verdict));
  const [first] = missing;
  if (first === undefined) return [];
  const message = `is not in the input, and its labels select the checks of ${workloads(missing.length)}: add it to the input, set another with -n for objects that name none, or use --profile`;
  return [
    {
      ...of(first.workload),
      at: { document: first.workload.document, path: [...first.workload.path, 'metadata', 'namespace'] },
      subject: `Namespace ${name}`,
      namespace: name,
      code: 'CNI_GATE_NAMESPACE_NOT_GIVEN',
      message,
    },
  ];
}

function faultOf(
  profile: string,
  join: ((profile: string) => unknown) | undefined,
): CoverageFault | undefined {
  try {
    join?.(profile);
    return undefined;
  } catch (error) {
    if (!(error instanceof CniGateError)) throw error;
    return { code: error.code, message: error.message };
  }
}

const noCheck = (group: readonly Reviewed[], profile: string): CoverageFault => ({
  code: 'CNI_GATE_NOTHING_CHECKED',
  message: `opted in to profile ${profile}, and none of its ${workloads(group.length)} in the input gets a check (${reasons(group)}): check each reason, or remove the label`,
});

const noCheckAtAll = (group: readonly Reviewed[]): CoverageFault => ({
  code: 'CNI_GATE_NOTHING_CHECKED',
  message: `none of ${workloads(group.length)} gets a check (${reasons(group)}): check each reason, or choose another profile`,
});

function reasons(group: readonly Reviewed[]): string {
  const counts = Map.groupBy(group, ({ verdict }) => verdict.reason);
  return [...counts].map(([reason, { length }]) => `${reason} ${length}`).join(', ');
}

const workloads = (count: number): string => `${count} workload${count === 1 ? '' : 's'}`;
