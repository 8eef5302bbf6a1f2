import { exitCode } from '../../validator/shared/contract.ts';
import type { Outcome } from '../admission/mutate.ts';
import { dotted } from '../config/parse.ts';
import { fieldsOf, valueAt } from '../lib/json.ts';
import { lineOf } from './input/read.ts';
import { type Finding, nameOf, type Path, type Position, type Reviewed, type Workload } from './model.ts';

/** The rule that a Job's `podFailurePolicy` needs, so that failed proofs do not count against its backoffLimit. */
const rule = `{action: Ignore, onExitCodes: {operator: In, values: [${exitCode.failed}]}}`;

const guide = 'docs/guides/repair.md#jobs';

/**
 * Why failed proofs may fail the Job although repair runs, and the line with the cause; undefined if they cannot.
 *
 * @param podPath the path of the Job's pod template in the object, which may be a CronJob
 */
export function jobFault(
  object: object,
  podPath: Path,
  { document, path }: Position,
): Workload['jobFault'] | undefined {
  const message = faultOf(object, podPath.slice(0, -1));
  if (message === undefined) return undefined;
  const { restartPolicy } = fieldsOf(valueAt(object, [...podPath, 'spec']));
  return {
    message,
    never: restartPolicy === 'Never',
    line: lineOf(document, [...path, ...podPath, 'spec', 'restartPolicy']),
  };
}

/** @param path the path of the Job's spec in the object */
function faultOf(object: object, path: Path): string | undefined {
  const spec = fieldsOf(valueAt(object, path));
  const { backoffLimit = 6 } = spec;
  const { restartPolicy } = fieldsOf(valueAt(spec, ['template', 'spec']));
  // a Job fails at restart number `backoffLimit` (if 0, at the first restart); restarts of init containers count
  if (restartPolicy === 'OnFailure' && Number(backoffLimit) < 2) {
    return `has restartPolicy OnFailure and backoffLimit ${String(backoffLimit)}, so it fails with the first proof that fails, before repair can help: set backoffLimit to 2 or more (${guide})`;
  }
  if (restartPolicy !== 'Never' || ignoresFailedProof(spec.podFailurePolicy)) return undefined;
  const rules = dotted([...path, 'podFailurePolicy', 'rules']);
  // the API server refuses TerminatingOrFailed if there is a podFailurePolicy (`validateJobSpec` of v1.36)
  const replacement =
    spec.podReplacementPolicy === 'TerminatingOrFailed'
      ? `, and set ${dotted([...path, 'podReplacementPolicy'])} to Failed`
      : '';
  return `has restartPolicy Never and no podFailurePolicy that ignores exit code ${exitCode.failed}, so each proof that fails counts against its backoffLimit, ${backoffLimit}: make \`${rule}\` the first rule of ${rules}${replacement} (${guide})`;
}

/** The outcomes of pods that get a check. */
const checked: ReadonlySet<Outcome> = new Set(['injected', 'updated', 'current']);

/** The findings for Jobs that may fail because of a failed proof although repair runs. */
export const jobFindings = (reviewed: readonly Reviewed[]): Finding[] =>
  reviewed.flatMap(({ workload, decision }): Finding[] => {
    const { jobFault: fault } = workload;
    if (fault === undefined || !checked.has(decision.outcome)) return [];
    // with the check `witness`, our container is a sidecar, and a failed sidecar does not end the pod
    if (fault.never && decision.checks.includes('witness')) return [];
    const { file } = workload.document;
    const { message, line } = fault;
    return [{ code: 'CNI_GATE_JOB_COUNTS_PROOF', message, subject: nameOf(workload), file, line, workload }];
  });

/**
 * Whether the first rule that matches a failed proof's exit code has the action Ignore (`matchPodFailurePolicy` in
 * Kubernetes' `pkg/controller/job/pod_failure_policy.go`). `containerName` never names an init container.
 */
function ignoresFailedProof(policy: unknown): boolean {
  const { rules } = fieldsOf(policy);
  const first = (Array.isArray(rules) ? rules : []).find((rule: unknown) => {
    const { operator, values, containerName } = fieldsOf(fieldsOf(rule).onExitCodes);
    if (!Array.isArray(values) || (containerName ?? '') !== '') return false;
    const isNamed = values.includes(exitCode.failed);
    return operator === 'In' ? isNamed : operator === 'NotIn' && !isNamed;
  });
  return fieldsOf(first).action === 'Ignore';
}
