import type { Report, Summary } from '../model.ts';

/** The JSON output: one document, in which the paths of patches begin at the workload's object. */
export function jsonOutput(report: Report, summary: Summary): string {
  const workloads = report.reviewed.map(({ workload, decision }) => {
    const { apiVersion, kind, namespace, name, part, document, line } = workload;
    const { operations: patch, podLabel: _, answer: __, ...outcome } = decision;
    const place = { file: document.file, line };
    return { apiVersion, kind, namespace, name, part, ...place, ...outcome, patch };
  });
  // without the objects that only this program needs; `subject` and `line` name the workload
  const findings = report.findings.map(({ workload: _, namespace: __, ...finding }) => finding);
  return `${JSON.stringify({ summary, workloads, findings, errors: report.faults }, null, 2)}\n`;
}

/** The answers that a server would give to recorded AdmissionReviews, one on each line, in the order of the input. */
export const answersOutput = (report: Report): string =>
  report.reviewed.map(({ decision }) => `${JSON.stringify(decision.answer)}\n`).join('');
