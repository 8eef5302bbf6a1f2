import { optedInTo } from '../../core/facts/namespace.ts';
import type { Policy } from '../../core/profiles/policy.ts';
import { CniGateError } from '../../lib/errors.ts';
import { profileLabel } from '../../lib/names.ts';
import type { Uncalled } from '../ask/judge.ts';
import { lineOf } from '../input/documents.ts';
import type { NamespaceObject, Unseen } from '../input/manifest-reader.ts';
import { type Finding, nameOf, type Reviewed } from '../model.ts';

/** What a review has read. */
interface Read {
  namespaces: ReadonlyMap<string, NamespaceObject>;
  unseen: readonly Unseen[];
}

/**
 * Finds what a review did not check: a namespace that opted in and of which no workload gets a check, a namespace that
 * is not in the input, a profile that does not exist or applies to no workload, a label of pods whose namespace did not
 * opt in.
 *
 * @param requested the value of `--profile`; undefined if labels opt namespaces in
 */
export function coverageFindings(
  reviewed: readonly Reviewed[],
  { namespaces, unseen }: Read,
  policy: Policy,
  requested: string | undefined,
): Finding[] {
  const byNamespace = Map.groupBy(reviewed, ({ workload }) => workload.namespace);
  const findings = [...byNamespace].flatMap(([name, group]) => [
    ...notInInput(name, group),
    ...labelAlone(name, group),
  ]);
  const applied = new Set(reviewed.flatMap(({ decision }) => decision.profiles));
  for (const [name, namespace] of requested === undefined ? namespaces : []) {
    const profile = optedInTo(namespace.labels);
    if (profile === undefined) continue;
    const group = byNamespace.get(name) ?? [];
    const fault = faultOf(profile, policy);
    if (fault !== undefined) findings.push(about(name, namespace, fault));
    if (isUnchecked(group)) findings.push(about(name, namespace, noCheck(group, profile)));
    else if (group.length > 0 && fault === undefined) {
      findings.push(...idle(profile, applied).map((notApplied) => about(name, namespace, notApplied)));
    }
    const others = unseen.filter((object) => object.namespace === name);
    if (group.length === 0 && others.length > 0)
      findings.push(about(name, namespace, notSeen(others, `opted in to profile ${profile}, and`)));
  }
  return findings;
}

/** The profiles that are requested and apply to no workload of the input: each is a finding. */
const idle = (requested: string, applied: ReadonlySet<string>): CoverageFault[] =>
  requested
    .split('.')
    .filter((name) => name !== '' && !applied.has(name))
    .map((name) => ({
      code: 'CNI_GATE_NOTHING_CHECKED' as const,
      message: `profile ${name} applies to no workload in the input: look at its condition "when", or leave it out (for a mesh, add --assume-meshed, or review pods with its containers)`,
    }));

/**
 * The findings about the input as a whole, for a review without a finding about a namespace, which says why: nothing is
 * checked, or a profile of `--profile` applies to nothing.
 */
export function inputFindings(
  reviewed: readonly Reviewed[],
  { unseen }: Pick<Read, 'unseen'>,
  requested: string | undefined,
): Finding[] {
  const [first] = reviewed;
  const inInput = (place: Place, fault: CoverageFault): Finding => ({
    subject: 'the input',
    ...place,
    ...fault,
  });
  if (first === undefined) {
    const [object] = requested === undefined ? [] : unseen;
    return object === undefined ? [] : [inInput(object, notSeen(unseen, ''))];
  }
  const place = { file: first.workload.document.file, line: first.workload.line };
  if (isUnchecked(reviewed)) return [inInput(place, noCheckAtAll(reviewed))];
  const applied = new Set(reviewed.flatMap(({ decision }) => decision.profiles));
  return idle(requested ?? '', applied).map((fault) => inInput(place, fault));
}

const isUnchecked = (group: readonly Reviewed[]): boolean => group.length > 0 && !group.some(isChecked);

/** A refusal is reported as such: the pipeline did check something. */
const isChecked = ({ decision }: Reviewed): boolean => !['skipped', 'removed'].includes(decision.outcome);

type CoverageFault = Pick<Finding, 'code' | 'message'>;
type Place = Pick<NamespaceObject, 'file' | 'line'>;

/** A finding about the label with which a Namespace opted in. */
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

/** Pods that carry the label in a namespace that did not opt in: one finding for the namespace. */
function labelAlone(name: string, group: readonly Reviewed[]): Finding[] {
  const labelled = group.filter(
    ({ decision }) => decision.reason === 'not-opted-in' && decision.podLabel !== undefined,
  );
  const [first] = labelled;
  if (first === undefined) return [];
  const { workload, decision } = first;
  const { document, path, podPath } = workload;
  const many = labelled.length > 1 ? ` and ${labelled.length - 1} more` : '';
  const message = `did not opt in, so the label ${profileLabel}=${decision.podLabel} on the pods of ${nameOf(workload)}${many} has no effect: it opts in nothing by itself, so put it on the Namespace`;
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

const noCheck = (group: readonly Reviewed[], profile: string): CoverageFault => ({
  code: 'CNI_GATE_NOTHING_CHECKED',
  message: `opted in to profile ${profile}, and none of its ${workloads(group.length)} in the input gets a check (${reasons(group)}): check each reason, or remove the label`,
});

const noCheckAtAll = (group: readonly Reviewed[]): CoverageFault => ({
  code: 'CNI_GATE_NOTHING_CHECKED',
  message: `none of ${workloads(group.length)} gets a check (${reasons(group)}): check each reason; a namespace opts in by the label ${profileLabel} of its Namespace in the input, or by --profile`,
});

function notSeen(objects: readonly Unseen[], opening: string): CoverageFault {
  const counts = [...Map.groupBy(objects, ({ kind }) => kind)].map(
    ([kind, { length }]) => `${kind} ${length}`,
  );
  const message = `${opening} no workload is reviewed, but the input has objects that seem to create pods (${counts.join(', ')}): review the pods that they create, or add their kinds to review.kinds`;
  return { code: 'CNI_GATE_NOTHING_CHECKED', message: message.trim() };
}

function reasons(group: readonly Reviewed[]): string {
  const counts = Map.groupBy(group, ({ decision }) => decision.reason);
  return [...counts].map(([reason, { length }]) => `${reason} ${length}`).join(', ');
}

const workloads = (count: number): string => `${count} workload${count === 1 ? '' : 's'}`;
