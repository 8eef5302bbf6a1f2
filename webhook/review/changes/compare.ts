import { groupOf } from '../input/kinds.ts';
import type { NamespaceObject } from '../input/namespace.ts';
import type { Finding, Report, Workload } from '../model.ts';

/** Objects of one state of the repository, with digests of their content. */
export interface Objects {
  workloads: readonly Workload[];
  namespaces: ReadonlyMap<string, NamespaceObject>;
}

/** The objects of now. */
export interface ObjectsNow extends Objects {
  /** The path in the repository of each file of the input that is in it. */
  paths: ReadonlyMap<string, string>;
  /** Files of the input that have the same text as before. */
  same: ReadonlySet<string>;
}

/** What changed. */
export interface Changes {
  /** Workloads that are new or have another content, and all of {@link namespaces}. */
  workloads: ReadonlySet<Workload>;
  /** Namespaces whose labels or annotations changed: these choose the checks of their workloads. */
  namespaces: ReadonlySet<string>;
  /** Namespaces in which something changed, or from which a workload was removed. */
  touched: ReadonlySet<string>;
}

/**
 * Compares objects by identity (group, kind, namespace, name and part) and content. An object is compared with the one
 * of the same file; if that file had none, with one that is no longer where it was. So a moved object did not change,
 * and a copy in another folder is new.
 *
 * @param before the objects of those files whose text is another now, or that exist no more; their names are paths
 */
export function changesBetween(now: ObjectsNow, before: Objects): Changes {
  const namespaces = changedNamespaces(now, before.namespaces);
  const pathOf = ({ document }: Workload): string => now.paths.get(document.file) ?? '';
  const places = new Set(now.workloads.map((one) => placeOf(one, pathOf(one))));
  const keys = new Set(now.workloads.map(keyOf));
  const inPlace = Map.groupBy(before.workloads, (one) => placeOf(one, one.document.file));
  const gone = before.workloads.filter((one) => !places.has(placeOf(one, one.document.file)));
  const moved = Map.groupBy(gone, keyOf);
  const isChanged = (workload: Workload): boolean => {
    if (namespaces.has(workload.namespace)) return true;
    if (now.same.has(workload.document.file)) return false;
    const earlier = inPlace.get(placeOf(workload, pathOf(workload))) ?? moved.get(keyOf(workload)) ?? [];
    return !earlier.some(({ content }) => content === workload.content);
  };
  const workloads = new Set(now.workloads.filter(isChanged));
  const removed = gone.filter((one) => !keys.has(keyOf(one)));
  const touched = new Set([...namespaces, ...[...workloads, ...removed].map(({ namespace }) => namespace)]);
  return { workloads, namespaces, touched };
}

function changedNamespaces(now: ObjectsNow, before: Objects['namespaces']): Set<string> {
  const changed = [...now.namespaces].filter(
    ([name, { file, content }]) => !now.same.has(file) && before.get(name)?.content !== content,
  );
  const removed = [...before.keys()].filter((name) => !now.namespaces.has(name));
  return new Set([...changed.map(([name]) => name), ...removed]);
}

const keyOf = ({ apiVersion, kind, namespace, name, part = '' }: Workload): string =>
  JSON.stringify([groupOf(apiVersion), kind, namespace, name, part]);

const placeOf = (workload: Workload, path: string): string => `${path}\n${keyOf(workload)}`;

/**
 * A report with what changed, for which everything was reviewed: whether a namespace has a check depends on all its
 * workloads. Input that cannot be read stays, because nobody can tell what it contains.
 */
export function onlyChanged(report: Report, { workloads, touched }: Changes): Report {
  const reviewed = report.reviewed.filter(({ workload }) => workloads.has(workload));
  const isAffected = ({ workload, namespace }: Finding): boolean => {
    if (workload !== undefined) return workloads.has(workload);
    return namespace === undefined ? touched.size > 0 : touched.has(namespace);
  };
  const findings = report.findings.filter(isAffected);
  const files = new Set([
    ...reviewed.map(({ workload }) => workload.document.file),
    ...[...findings, ...report.faults].map(({ file }) => file),
  ]);
  return {
    ...report,
    documents: report.documents.filter(({ file }) => files.has(file)),
    reviewed,
    findings,
    unchanged: report.reviewed.length - reviewed.length,
  };
}
