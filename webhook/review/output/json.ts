import type { Report, SourceDocument } from '../model.ts';
import type { Summary } from '../summary.ts';

/** The JSON output: one document. Paths of a patch begin at the workload's object. */
export function jsonOutput(report: Report, summary: Summary): string {
  const workloads = report.reviewed.map(({ workload, verdict }) => ({
    apiVersion: workload.apiVersion,
    kind: workload.kind,
    namespace: workload.namespace,
    name: workload.name,
    ...(workload.part !== undefined && { part: workload.part }),
    ...(workload.alsoIn !== undefined && { alsoIn: workload.alsoIn }),
    ...(workload.unknownKind && { unknownKind: true }),
    file: workload.document.file,
    line: workload.line,
    outcome: verdict.outcome,
    reason: verdict.reason,
    profiles: verdict.profiles,
    checks: verdict.checks,
    ...(verdict.assumed && { assumed: verdict.assumed }),
    warnings: verdict.warnings,
    ...(verdict.message !== undefined && { message: verdict.message }),
    ...(verdict.messageLine !== undefined && { messageLine: verdict.messageLine }),
    patch: verdict.operations,
  }));
  // subject and line name the workload of a finding
  const findings = report.findings.map(({ workload: _, namespace: __, refuses: ___, ...finding }) => finding);
  return `${JSON.stringify({ summary, workloads, findings, errors: report.faults }, null, 2)}\n`;
}

/**
 * The AdmissionReviews that a server would send, in the order of the input: one on each line; a list for a list, on one
 * line.
 */
export function answersOutput(report: Report): string {
  const byDocument = Map.groupBy(report.reviewed, (one) => one.workload.document);
  const answersOf = (document: SourceDocument): unknown[] =>
    (byDocument.get(document) ?? []).map((one) => one.verdict.answer);
  return wholeDocuments(report.documents)
    .flatMap(({ list, parts }) => {
      const answers = parts.flatMap(answersOf);
      return list ? [answers] : answers;
    })
    .map((value) => `${JSON.stringify(value)}\n`)
    .join('');
}

/** The documents with something to review; the parts of a large List count as one. */
function wholeDocuments(documents: readonly SourceDocument[]): { list: boolean; parts: SourceDocument[] }[] {
  const whole: { list: boolean; parts: SourceDocument[] }[] = [];
  for (const document of documents) {
    const last = whole.at(-1);
    if (document.continues && last !== undefined) {
      last.parts.push(document);
      last.list ||= document.list;
    } else {
      whole.push({ list: document.list, parts: [document] });
    }
  }
  return whole.filter(({ parts }) => parts.some((part) => part.reviewed));
}
