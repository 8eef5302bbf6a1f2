import type { Report, Summary } from '../model.ts';

/** The JSON output: one document. The paths in a patch begin at the workload's object. */
export function jsonOutput(report: Report, summary: Summary): string {
  const workloads = report.reviewed.map(({ workload, decision }) => {
    const { apiVersion, kind, namespace, name, part, document, line } = workload;
    const { operations: patch, podLabel: _, answer: __, ...outcome } = decision;
    const place = { file: document.file, line };
    return { apiVersion, kind, namespace, name, part, ...place, ...outcome, patch };
  });
  // `subject` and `line` identify the workload of a finding
  const findings = report.findings.map(({ workload: _, namespace: __, ...finding }) => finding);
  return `${JSON.stringify({ summary, workloads, findings, errors: report.faults }, null, 2)}\n`;
}

/** The AdmissionReviews that a server would send, one on each line, in the order of the input. */
export const answersOutput = (report: Report): string =>
  report.reviewed.map(({ decision }) => `${JSON.stringify(decision.answer)}\n`).join('');
