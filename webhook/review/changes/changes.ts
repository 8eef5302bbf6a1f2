import type { TemplateKind } from '../../config/types.ts';
import { readStream } from '../input/documents.ts';
import { ManifestReader } from '../input/manifest-reader.ts';
import type { NamespaceObject } from '../input/namespace.ts';
import type { Finding, Report, Workload } from '../model.ts';
import type { Revision } from './revision.ts';

/** What changed since a revision. */
export interface Changes {
  /** Whether a file differs. */
  differs(file: string): boolean;
  /** Namespaces whose labels or annotations are others: these choose the checks of their workloads. */
  namespaces: ReadonlySet<string>;
  /** Those Namespaces, and namespaces with a workload in a file that differs or exists no more. */
  touched: ReadonlySet<string>;
  /** The Namespaces of the files that differ, as they were. */
  before: ReadonlyMap<string, NamespaceObject>;
}

/** The objects of the input, and how they are read. */
export interface Compared {
  names: readonly string[];
  /** All objects of the input. */
  reader: ManifestReader;
  defaultNamespace: string;
  kinds: readonly TemplateKind[];
}

/** Compares the input with a revision. */
export async function changesSince(
  revision: Revision,
  { names, reader: { documents, workloads, namespaces }, defaultNamespace, kinds }: Compared,
): Promise<Changes> {
  const files = new Set(documents.map(({ file }) => file));
  const before = new Map<string, NamespaceObject>();
  const touched = new Set<string>();
  for await (const [path, text] of revision.earlier(names, [...files])) {
    const reader = new ManifestReader(defaultNamespace, kinds);
    for (const read of readStream(path, text)) {
      // what could not be read then counts as new now
      if (!('code' in read) && !reader.full) reader.take(read);
    }
    for (const [name, namespace] of reader.namespaces) before.set(name, namespace);
    for (const { namespace } of reader.workloads) touched.add(namespace);
  }
  const differs = (file: string): boolean => revision.differs(file);
  const changed = [...new Set([...before.keys(), ...namespaces.keys()])].filter((name) => {
    const now = namespaces.get(name);
    const earlier = before.get(name);
    if (earlier === undefined) return now !== undefined && differs(now.file);
    return now === undefined || labelsAndAnnotations(now) !== labelsAndAnnotations(earlier);
  });
  const inChanged = workloads.filter(({ document }) => differs(document.file));
  for (const name of [...changed, ...inChanged.map(({ namespace }) => namespace)]) touched.add(name);
  return { differs, namespaces: new Set(changed), touched, before };
}

const labelsAndAnnotations = ({ labels, annotations }: NamespaceObject): string =>
  JSON.stringify([labels, annotations].map((map) => Object.entries(map).toSorted()));

/**
 * A report with what changed, for which everything was reviewed: whether a namespace has a check depends on all its
 * workloads. Input that cannot be read stays, because nothing is known about its content.
 */
export function onlyChanged(report: Report, { differs, namespaces, touched }: Changes): Report {
  const isChanged = ({ document, namespace }: Workload): boolean =>
    differs(document.file) || namespaces.has(namespace);
  const isAffected = ({ workload, namespace, file }: Finding): boolean => {
    if (workload !== undefined) return isChanged(workload);
    return differs(file) || (namespace === undefined ? touched.size > 0 : touched.has(namespace));
  };
  const reviewed = report.reviewed.filter(({ workload }) => isChanged(workload));
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
