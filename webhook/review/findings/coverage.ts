import { optedInTo } from '../../core/facts/namespace.ts';
import type { Policy } from '../../core/profiles/policy.ts';
import { CniGateError } from '../../lib/errors.ts';
import { profileLabel } from '../../lib/names.ts';
import { lineOf } from '../input/documents.ts';
import type { NamespaceObject } from '../input/manifest-reader.ts';
import type { Uncalled } from '../judge.ts';
import { type Finding, nameOf, type ReviewDecision, type Reviewed } from '../model.ts';

type CoverageFault = Pick<Finding, 'code' | 'message'>;
type Place = Pick<NamespaceObject, 'file' | 'line'>;

/**
 * Finds what a review leaves unchecked: a namespace that opted in but has no workload with a check, a namespace that is
 * not in the input, a profile that does not exist or applies to no workload, and pods with a profile label in a
 * namespace that did not opt in. If no finding names a namespace, judges the input as a whole instead.
 *
 * @param requested the value of `--profile`; undefined if labels opt namespaces in
 * @param others findings of the other modules in this folder
 */
export function coverageFindings(
  reviewed: readonly Reviewed[],
  namespaces: ReadonlyMap<string, NamespaceObject>,
  policy: Policy,
  requested: string | undefined,
  others: readonly Finding[],
): Finding[] {
  const byNamespace = Map.groupBy(reviewed, ({ workload }) => workload.namespace);
  const applied = new Set(reviewed.flatMap(({ decision }) => decision.profiles));
  const findings = [...byNamespace].flatMap(([name, group]) => [
    ...notInInput(name, group),
    ...labelAlone(name, group),
  ]);
  for (const [name, namespace] of requested === undefined ? namespaces : []) {
    const profile = optedInTo(namespace.labels);
    if (profile === undefined) continue;
    const group = byNamespace.get(name) ?? [];
    const fault = faultOf(profile, policy);
    if (fault !== undefined) findings.push(about(name, namespace, fault));
    if (isUnchecked(group)) findings.push(about(name, namespace, noCheck(group)));
    else if (group.length > 0 && fault === undefined)
      findings.push(...idle(profile, applied).map((notApplied) => about(name, namespace, notApplied)));
  }
  const [first] = reviewed;
  if (first === undefined || [...others, ...findings].some(({ namespace }) => namespace !== undefined))
    return findings;
  const place = { file: first.workload.document.file, line: first.workload.line };
  const faults = isUnchecked(reviewed) ? [noCheck(reviewed)] : idle(requested ?? '', applied);
  return [...findings, ...faults.map((fault) => ({ subject: 'the input', ...place, ...fault }))];
}

/** A finding about a namespace. */
const about = (name: string, { file, line }: Place, fault: CoverageFault): Finding => ({
  subject: `Namespace ${name}`,
  namespace: name,
  file,
  line,
  ...fault,
});

function notInInput(name: string, group: readonly Reviewed[]): Finding[] {
  const missing = group.filter(
    ({ decision }) => decision.reason === ('namespace-not-given' satisfies Uncalled),
  );
  const [first] = missing;
  if (first === undefined) return [];
  const { document, path } = first.workload;
  const message = `is not in the input, so the checks of ${workloads(missing.length)} are not known: add it to the input, set another with -n for objects that name none, or use --profile`;
  const place = { file: document.file, line: lineOf(document, [...path, 'metadata', 'namespace']) };
  return [about(name, place, { code: 'CNI_GATE_NAMESPACE_NOT_GIVEN', message })];
}

/** Finds pods that have the profile label although their namespace did not opt in; one finding for each namespace. */
function labelAlone(name: string, group: readonly Reviewed[]): Finding[] {
  const first = group.find(
    ({ decision }) => decision.reason === 'not-opted-in' && decision.podLabel !== undefined,
  );
  if (first === undefined) return [];
  const { workload, decision } = first;
  const { document, path, podPath } = workload;
  const message = `did not opt in, so the label ${profileLabel}=${decision.podLabel} on the pods of ${nameOf(workload)} has no effect: put it on the Namespace`;
  const line = lineOf(document, [...path, ...podPath, 'metadata', 'labels', profileLabel]);
  return [about(name, { file: document.file, line }, { code: 'CNI_GATE_NOT_OPTED_IN', message })];
}

function faultOf(profile: string, policy: Policy): CoverageFault | undefined {
  try {
    policy.combineProfiles(profile);
    return undefined;
  } catch (error) {
    if (!(error instanceof CniGateError)) throw error;
    return { code: error.code, message: error.message };
  }
}

/** Findings about requested profiles that apply to no workload of the input. */
const idle = (requested: string, applied: ReadonlySet<string>): CoverageFault[] =>
  requested
    .split('.')
    .filter((name) => name !== '' && !applied.has(name))
    .map((name) => ({
      code: 'CNI_GATE_NOTHING_CHECKED' as const,
      message: `profile ${name} applies to no workload in the input: look at its condition "when", or leave it out (for a mesh, add --assume-meshed, or review pods with its containers)`,
    }));

/** Whether no workload got a check. A refused workload counts as checked, because the refusal is reported. */
const isUnchecked = (group: readonly Reviewed[]): boolean =>
  group.length > 0 &&
  group.every(
    ({ decision }) => ['skipped', 'removed'].includes(decision.outcome) || isWithoutChecks(decision),
  );

const isWithoutChecks = ({ outcome, checks }: ReviewDecision): boolean =>
  outcome === 'injected' && checks.length === 0;

function noCheck(group: readonly Reviewed[]): CoverageFault {
  const byReason = Map.groupBy(group, ({ decision }) =>
    isWithoutChecks(decision) ? 'profile-without-checks' : decision.reason,
  );
  const reasons = [...byReason].map(([reason, { length }]) => `${reason} ${length}`).join(', ');
  const message = `none of ${workloads(group.length)} in the input gets a check (${reasons}): check each reason; a namespace opts in by the label ${profileLabel} of its Namespace in the input, or by --profile`;
  return { code: 'CNI_GATE_NOTHING_CHECKED', message };
}

const workloads = (count: number): string => `${count} workload${count === 1 ? '' : 's'}`;
