import { optedInTo } from '../core/facts/namespace.ts';
import { fieldsOf, isObject, valueAt } from '../lib/json.ts';
import { certificatesLabel, profileLabel, statusAnnotation } from '../lib/names.ts';
import { nearest } from '../lib/spelling.ts';
import { lineOf } from './input/read.ts';
import { isCustom } from './input/workloads.ts';
import type { Uncalled } from './judge.ts';
import {
  type Finding,
  type NamespaceObject,
  nameOf,
  type Path,
  type Position,
  type Reviewed,
  type Unseen,
  type Workload,
} from './model.ts';

/* Findings: parts of the input that probably do not do what the author intends. */

/** The labels and annotations of cni-gate that an object of the input can have. */
const known = { labels: [profileLabel, certificatesLabel], annotations: [statusAnnotation] };

/**
 * Findings for labels and annotations that look like cni-gate's but have no effect: they are misspelled, have no
 * value, or are in the wrong place.
 *
 * @param at the path, in the object, of the value that contains `metadata`
 * @param isRead whether cni-gate reads a profile label at this place
 */
export function keyFindings(
  object: unknown,
  at: Path,
  about: Pick<Finding, 'subject' | 'workload' | 'namespace'>,
  { document, path }: Position,
  isRead = true,
): Finding[] {
  return (['labels', 'annotations'] as const).flatMap((map) =>
    Object.entries(fieldsOf(valueAt(object, [...at, 'metadata', map])))
      // an empty value often comes from an unset variable of a template
      .filter(([key, value]) =>
        known[map].includes(key)
          ? key === profileLabel && !(isRead && (value ?? '') !== '')
          : isLikeOurs(key),
      )
      .map(([key, value]) => {
        const name = `${map.slice(0, -1)} ${key}${(value ?? '') === '' ? ' without a value' : ''}`;
        const message = `${name} has no effect: cni-gate reads the label ${profileLabel} of Namespaces and pods`;
        const line = lineOf(document, [...path, ...at, 'metadata', map, key]);
        return { code: 'CNI_GATE_KEY_UNKNOWN', message, file: document.file, line, ...about };
      }),
  );
}

/** Whether a key's prefix contains this project's name, as in `cnigate.io/profile`, or the key is similar to ours. */
const isLikeOurs = (key: string): boolean =>
  (key.split('/', 1)[0] ?? '')
    .toLowerCase()
    .replace(/[^a-z]/g, '')
    .includes('cnigate') || nearest(key, Object.values(known).flat()) !== undefined;

/** The finding for an object that seems to contain a pod, but has an unknown kind or a wrong `apiVersion`. */
export function unknownKind(
  object: Record<string, unknown>,
  names: Pick<Workload, 'kind' | 'namespace' | 'name'>,
  { document, path }: Position,
): Finding | undefined {
  const { metadata: _, status: __, data: ___, ...rest } = object;
  const apiVersion = String(object.apiVersion);
  const custom = isCustom(apiVersion);
  const found = !custom && holdsPod(object, []) ? [] : search(rest, []);
  if (found === undefined) return undefined;
  const where = found.map((part) => (typeof part === 'number' ? '*' : part)).join('.');
  const advice = custom
    ? `add the kind to review.kinds of the configuration, with path ${where}, or with path none if that is no pod template`
    : 'correct apiVersion and kind';
  return {
    code: 'CNI_GATE_KIND_UNKNOWN',
    message: `has containers in ${where || 'spec'}, and kind ${names.kind} of ${apiVersion} is unknown, so they are not reviewed: ${advice} (docs/reference/configuration.md#review)`,
    subject: nameOf(names),
    namespace: names.namespace,
    file: document.file,
    line: lineOf(document, [...path, ...found]),
  };
}

/** The path of the first pod in a value; undefined if there is none. */
function search(value: unknown, path: Path): Path | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (path.length > 0 && holdsPod(value, path)) return path;
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [key, inner] of entries) {
    const deeper = search(inner, [...path, key]);
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}

/** Whether a value has `spec.containers`, or is an Argo Workflow's template that has a container or script. */
function holdsPod(value: unknown, path: Path): boolean {
  const { spec, container, script } = fieldsOf(value);
  const { containers } = fieldsOf(spec);
  if (Array.isArray(containers)) return containers.some(isObject);
  return path.at(-2) === 'templates' && [container, script].some((one) => 'image' in fieldsOf(one));
}

/**
 * Finds what a review leaves unchecked: a namespace that opted in but has no workload with a check, a namespace that is
 * not in the input, a profile that applies to no workload, and pods with a profile label in a namespace that did not opt
 * in. If no finding names a namespace, judges the input as a whole instead. Where there is no workload, custom
 * resources of unknown kinds count as not checked, because their controllers may create pods.
 *
 * @param requested the value of `--profile`; undefined if labels opt namespaces in
 * @param others the other findings
 */
export function coverageFindings(
  reviewed: readonly Reviewed[],
  { namespaces, unseen }: { namespaces: ReadonlyMap<string, NamespaceObject>; unseen: readonly Unseen[] },
  requested: string | undefined,
  others: readonly Finding[],
): Finding[] {
  const byNamespace = Map.groupBy(reviewed, ({ workload }) => workload.namespace);
  const applied = new Set(reviewed.flatMap(({ decision }) => decision.profiles));
  const findings = [...byNamespace].flatMap(([name, group]) => [
    ...notInInput(name, group),
    ...labelAlone(name, group),
  ]);
  for (const [name, { labels, ...place }] of requested === undefined ? namespaces : []) {
    const profile = optedInTo(labels);
    const group = byNamespace.get(name) ?? [];
    if (profile === undefined) continue;
    findings.push(...unchecked(group, profile, applied, about(name, place)));
    if (group.length === 0)
      findings.push(
        ...notSeen(
          unseen.filter(({ namespace }) => namespace === name),
          about(name, place),
        ),
      );
  }
  const [first] = reviewed;
  const [object] = unseen;
  if (first === undefined && object !== undefined && requested !== undefined)
    return [...findings, ...notSeen(unseen, { subject: 'the input', file: object.file, line: object.line })];
  if (first === undefined || [...others, ...findings].some(({ namespace }) => namespace !== undefined))
    return findings;
  const { document, line } = first.workload;
  const place = { subject: 'the input', file: document.file, line };
  return [...findings, ...unchecked(reviewed, requested ?? '', applied, place)];
}

type Place = Pick<Finding, 'subject' | 'namespace' | 'file' | 'line'>;

const about = (name: string, { file, line }: Omit<Place, 'subject'>): Place => ({
  subject: `Namespace ${name}`,
  namespace: name,
  file,
  line,
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
  return [{ code: 'CNI_GATE_NAMESPACE_NOT_GIVEN', message, ...about(name, place) }];
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
  return [{ code: 'CNI_GATE_NOT_OPTED_IN', message, ...about(name, { file: document.file, line }) }];
}

/** A finding if no workload of a group gets a check; otherwise one for each requested profile that applies nowhere. */
function unchecked(
  group: readonly Reviewed[],
  requested: string,
  applied: ReadonlySet<string>,
  place: Place,
): Finding[] {
  if (group.length === 0) return [];
  const code = 'CNI_GATE_NOTHING_CHECKED';
  if (group.some(({ decision }) => decision.checks.length > 0))
    return requested
      .split('.')
      .filter((name) => name !== '' && !applied.has(name))
      .map((name) => {
        const message = `profile ${name} applies to no workload in the input: look at its condition "when", or leave it out (for a mesh, add --assume-meshed, or review pods with its containers)`;
        return { code, message, ...place };
      });
  const byReason = Map.groupBy(group, ({ decision }) => decision.reason);
  const reasons = [...byReason].map(([reason, { length }]) => `${reason} ${length}`).join(', ');
  const message = `none of ${workloads(group.length)} in the input gets a check (${reasons}): check each reason; a namespace opts in by the label ${profileLabel} of its Namespace in the input, or by --profile`;
  return [{ code, message, ...place }];
}

function notSeen(objects: readonly Unseen[], place: Place): Finding[] {
  if (objects.length === 0) return [];
  const kinds = [...new Set(objects.map(({ kind }) => kind))].join(', ');
  const message = `has no workload that review knows, and objects that may create pods: ${kinds}; for each kind, add an entry to review.kinds of the configuration, with path none if it creates no pods from a template (docs/reference/configuration.md#review)`;
  return [{ code: 'CNI_GATE_NOTHING_CHECKED', message, ...place }];
}

const workloads = (count: number): string => `${count} workload${count === 1 ? '' : 's'}`;
