import { builtInKinds } from '../config/builtin.ts';
import type { Policy } from '../config/policy.ts';
import { inProcess } from './ask/in-process.ts';
import { type Admission, judge } from './ask/judge.ts';
import { coverageFindings } from './findings/coverage.ts';
import { proxyMissing } from './findings/proxy.ts';
import { readStream } from './input/documents.ts';
import { expandInputs } from './input/inputs.ts';
import { Intake } from './input/intake.ts';
import { mostInput } from './input/limits.ts';
import { readInput } from './input/read.ts';
import { type Finding, faultAt, type Judged, type Report } from './model.ts';
import type { Progress } from './progress.ts';

export interface ReviewOptions {
  /** Files, folders, globs, and `-` for standard input. */
  names: readonly string[];
  /** The namespace of objects that name none. */
  namespace: string;
  /** Who answers: the policy in this process with the namespaces of the input, or a server. */
  admission: { policy: Policy; profile?: string | undefined } | Admission;
  /** Whether a pod that asks for a mesh is judged as if the mesh's injector had run. Not with a server. */
  assumeMeshed?: boolean;
  progress: Progress;
}

/**
 * Reads everything, then asks admission about each workload.
 *
 * @throws CniGateError CNI_GATE_SERVER where a server does not answer as it should
 */
export async function review(options: ReviewOptions): Promise<Report> {
  const { admission, progress } = options;
  const kinds = 'policy' in admission ? admission.policy.templateKinds : builtInKinds();
  const intake = new Intake(options.namespace, kinds);
  try {
    await readAll(options, intake);
    const ask =
      'policy' in admission ? inProcess(admission.policy, intake.namespaces, admission.profile) : admission;
    const judged = await judgeAll(intake, ask, options);
    intake.findings.push(...intake.missingTemplates((name) => ask.uncalled(name) !== 'not-opted-in'));
    return {
      judged,
      documents: intake.documents,
      faults: intake.faults,
      findings: findingsOf(judged, intake, admission),
      otherObjects: intake.otherObjects,
      reviewsOnly: intake.workloads.length > 0 && intake.workloads.every((workload) => workload.given),
      namespaces: intake.namespaces.size,
    };
  } finally {
    progress.clear();
  }
}

async function readAll({ names, progress }: ReviewOptions, intake: Intake): Promise<void> {
  let left = mostInput();
  for (const found of expandInputs(names)) {
    const input = typeof found === 'string' ? await readInput(found, left) : found;
    if ('code' in input) {
      intake.faults.push(input);
      continue;
    }
    left -= input.size;
    for (const read of readStream(input.file, input.text)) {
      if (intake.full) break;
      progress.tell(() => `reading ${input.file}: ${intake.documents.length} documents`);
      if ('code' in read) intake.faults.push(read);
      else intake.take(read);
    }
  }
  const nothing = intake.workloads.length + intake.namespaces.size + intake.otherObjects.size === 0;
  if (nothing && intake.faults.length === 0) {
    // an empty pipe is a step before this one that failed
    const file = names.length === 1 && names[0] !== '-' ? (names[0] ?? '') : 'stdin';
    intake.faults.push(faultAt({ file }, 'CNI_GATE_INPUT_UNREADABLE', 'there are no objects in the input'));
  }
}

async function judgeAll(
  intake: Intake,
  admission: Admission,
  { assumeMeshed = false, progress }: ReviewOptions,
): Promise<Judged[]> {
  const judged: Judged[] = [];
  for (const [index, workload] of intake.workloads.entries()) {
    progress.tell(() => `reviewing ${index} of ${intake.workloads.length}`);
    const result = await judge(workload, admission, assumeMeshed);
    // what was asked is not needed again, and is as large as the input
    workload.body = asked;
    if ('verdict' in result) {
      const { gaps, ...one } = result;
      judged.push(one);
      intake.findings.push(...gaps.map((gap) => proxyMissing(workload, gap)));
    } else if ('code' in result) intake.faults.push(result);
    else intake.countOther(`AdmissionReview of ${result.otherKind}`);
  }
  return judged;
}

function findingsOf(
  judged: readonly Judged[],
  { findings, namespaces }: Intake,
  admission: ReviewOptions['admission'],
): Finding[] {
  const offline = 'policy' in admission;
  const optIn = !offline ? 'server' : admission.profile === undefined ? 'labels' : 'profile';
  const join = offline ? (profile: string) => admission.policy.join(profile) : undefined;
  return [...findings, ...coverageFindings(judged, namespaces, findings, optIn, join)];
}
const asked = (): never => {
  throw new TypeError('a workload is asked about once');
};
