import type { Report } from '../model.ts';
import type { Summary } from '../summary.ts';

/** The JSON output: one document. Paths of a patch begin at the workload's object. */
export function jsonOutput(report: Report, summary: Summary): string {
  const workloads = report.reviewed.map(({ workload, verdict }) => ({
    apiVersion: workload.apiVersion,
    kind: workload.kind,
    namespace: workload.namespace,
    name: workload.name,
    ...(workload.part !== undefined && { part: workload.part }),
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
    patch: verdict.operations,
  }));
  // subject and line name the workload of a finding
  const findings = report.findings.map(({ workload: _, namespace: __, ...finding }) => finding);
  return `${JSON.stringify({ summary, workloads, findings, errors: report.faults }, null, 2)}\n`;
}
