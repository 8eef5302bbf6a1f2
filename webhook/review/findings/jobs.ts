import { exitCode } from '../../../validator/shared/contract.ts';
import type { Outcome } from '../../inject/decide.ts';
import type { Finding, Reviewed, Workload } from '../model.ts';
import { nameOf } from '../name.ts';
import { type Fields, fieldsOf, valueAt } from '../values.ts';

/** Where the spec of a Job is, by kind. */
const specs: ReadonlyMap<string, readonly string[]> = new Map([
  ['Job', ['spec']],
  ['CronJob', ['spec', 'jobTemplate', 'spec']],
]);

/** The lines that a Job needs so that it does not count a proof that fails, in one. */
const lines = `podFailurePolicy: {rules: [{action: Ignore, onExitCodes: {operator: In, values: [${exitCode.failed}]}}]}`;

const guide = 'docs/guides/repair.md#jobs';

/**
 * Why a Job, or a CronJob's Jobs, may fail for their network although repair runs; undefined where they do not, and for
 * other kinds.
 *
 * @param object of group `batch`
 */
export function jobFault(object: Fields): string | undefined {
  const path = specs.get(String(object.kind));
  if (path === undefined) return undefined;
  const spec = fieldsOf(valueAt(object, path));
  const { backoffLimit = 6 } = spec;
  const { restartPolicy } = fieldsOf(valueAt(spec, ['template', 'spec']));
  if (restartPolicy === 'OnFailure' && backoffLimit === 0) {
    return `has restartPolicy OnFailure and backoffLimit 0, so it fails with the first proof that fails, before repair can help: set backoffLimit to 1 or more (${guide})`;
  }
  if (restartPolicy !== 'Never' || ignoresFailedProof(spec.podFailurePolicy)) return undefined;
  const cost =
    backoffLimit === 0
      ? 'it fails with the first proof that fails'
      : `each proof that fails uses up one of its backoffLimit, ${String(backoffLimit)}`;
  return `has restartPolicy Never and no podFailurePolicy that ignores exit code ${exitCode.failed}, so ${cost}: add to its spec \`${lines}\` (${guide})`;
}

/** Outcomes of pods that start with a check. */
const checked: ReadonlySet<Outcome> = new Set(['injected', 'updated', 'current']);

/** Jobs whose pods get a check and that may fail for their network. */
export const jobFindings = (
  reviewed: readonly Reviewed[],
  faults: ReadonlyMap<Workload, string>,
): Finding[] =>
  reviewed.flatMap(({ workload, verdict }) => {
    const message = faults.get(workload);
    if (message === undefined || !checked.has(verdict.outcome)) return [];
    const { document, line } = workload;
    const at = { document, path: [...workload.path, ...workload.podPath, 'spec', 'restartPolicy'] };
    const place = { file: document.file, line, at };
    return [{ code: 'CNI_GATE_JOB_COUNTS_PROOF', message, subject: nameOf(workload), ...place, workload }];
  });

/**
 * Whether the first rule that fits a container that ended with the code of a failed proof ignores it. A rule with
 * `containerName` never fits: it may name containers of the Job's template only, and the init container is not in it.
 * Source: Kubernetes, `matchPodFailurePolicy` in `pkg/controller/job/pod_failure_policy.go`.
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
