import { builtInKinds } from '../config/builtin.ts';
import type { Policy } from '../config/policy.ts';
import { inProcess } from './ask/in-process.ts';
import { type Admission, judge, type Uncalled } from './ask/judge.ts';
import { changesSince, onlyChanged } from './changes/changes.ts';
import { compareWith } from './changes/revision.ts';
import { coverageFindings, lostOptIns, withoutRepeated } from './findings/coverage.ts';
import { jobFindings } from './findings/jobs.ts';
import { proxyMissing } from './findings/proxy.ts';
import { markLabels, namespaceRefusals } from './findings/refusals.ts';
import { readStream } from './input/documents.ts';
import { expandInputs, standardInput, standardInputName } from './input/inputs.ts';
import { groupOf } from './input/kinds.ts';
import { renderKustomization } from './input/kustomize.ts';
import { mostInput } from './input/limits.ts';
import { withLines } from './input/locate.ts';
import { ManifestReader } from './input/manifest-reader.ts';
import { readInput } from './input/read.ts';
import { type Finding, faultAt, type Report, type Reviewed, type Workload } from './model.ts';
import type { Progress } from './progress.ts';

/** The policy in this process, with the namespaces of the input. */
export interface InProcess {
  policy: Policy;
  /** The profile of every namespace, instead of its label. */
  profile?: string | undefined;
  /** The namespace of cni-gate, whose pods are exempt. */
  ownNamespace?: string | undefined;
}

/** What to review, and who decides. */
export interface ReviewOptions {
  /** Files, folders, globs, and `-` for standard input. */
  names: readonly string[];
  /** Folders to render with kustomize. */
  kustomize?: readonly string[];
  /** The namespace of objects that name none. */
  namespace: string;
  /** What answers: this process, or a server. */
  admission: InProcess | Admission;
  /** Whether a pod that requests a mesh is reviewed as if the mesh's injector had run. Not with a server. */
  assumeMeshed?: boolean;
  /** A Git revision: only workloads that changed since are reported. Not with standard input. */
  changedSince?: string | undefined;
  progress: Progress;
}

/**
 * Reads everything, then asks admission about each workload.
 *
 * @throws CniGateError CNI_GATE_SERVER if a server gives no valid answer; CNI_GATE_GIT, CNI_GATE_GIT_REVISION or
 *   CNI_GATE_INPUT_TOO_LARGE if the input cannot be compared with the revision
 */
export async function review(options: ReviewOptions): Promise<Report> {
  const { admission, names, progress, namespace, changedSince } = options;
  const kinds = 'policy' in admission ? admission.policy.templateKinds : builtInKinds();
  const revision = changedSince === undefined ? undefined : await compareWith(changedSince);
  const reader = new ManifestReader(namespace, kinds);
  try {
    const notRead = await readAll(options, reader);
    const changes =
      revision && (await changesSince(revision, { names, reader, defaultNamespace: namespace, kinds }));
    if (changes !== undefined && !('policy' in admission && admission.profile !== undefined)) {
      reader.findings.push(...lostOptIns(changes.before, reader.namespaces, reader.findings));
    }
    const ask =
      'policy' in admission
        ? inProcess(admission.policy, reader.namespaces, admission.profile, admission.ownNamespace)
        : admission;
    markTwice(reader.workloads);
    const reviewed = await judgeAll(reader, ask, options);
    markLabels(reviewed);
    reader.findings.push(...reader.missingTemplates((name) => isExpected(ask.uncalled(name))));
    const report: Report = {
      reviewed,
      documents: reader.documents,
      faults: reader.faults,
      findings: withLines(findingsOf(reviewed, reader, admission)),
      otherObjects: reader.otherObjects,
      reviewsOnly: reader.workloads.length > 0 && reader.workloads.every((workload) => workload.given),
      namespaces: reader.namespaces.size,
      notRead,
    };
    const reported = changes === undefined ? report : onlyChanged(report, changes);
    const refusals =
      'policy' in admission && admission.profile === undefined
        ? namespaceRefusals(reported.reviewed, reader.namespaces, (profile) => admission.policy.join(profile))
        : [];
    return { ...reported, findings: [...withLines(refusals), ...withoutRepeated(reported.findings)] };
  } finally {
    progress.clear();
  }
}

/** Notes in each workload that occurs twice where the first of the others is. Environments may be folders, so it is no finding. */
function markTwice(workloads: readonly Workload[]): void {
  const manifests = workloads.filter(({ given, name }) => !given && !name.endsWith('*'));
  const same = Map.groupBy(manifests, ({ apiVersion, kind, namespace, name, part = '' }) =>
    JSON.stringify([groupOf(apiVersion), kind, namespace, name, part]),
  );
  for (const group of same.values()) {
    for (const workload of group) {
      const other = group.find((one) => one !== workload);
      if (other !== undefined) workload.alsoIn = `${other.document.file}:${other.line}`;
    }
  }
}

/** @returns the paths that were not read */
async function readAll(
  { names, kustomize = [], progress }: ReviewOptions,
  reader: ManifestReader,
): Promise<string[]> {
  let left = mostInput();
  const notRead: string[] = [];
  const inputs = [
    ...expandInputs(names, notRead).map(
      (found) => () => (typeof found === 'string' ? readInput(found, left) : found),
    ),
    ...kustomize.map((folder) => () => renderKustomization(folder, left)),
  ];
  for (const next of inputs) {
    const input = await next();
    if ('code' in input) {
      reader.faults.push(input);
      continue;
    }
    left -= input.size;
    for (const read of readStream(input.file, input.text)) {
      if (reader.full) break;
      progress.tell(() => `reading ${input.file}: ${reader.documents.length} documents`);
      if ('code' in read) reader.faults.push(read);
      else reader.take(read);
    }
  }
  const nothing = reader.workloads.length + reader.namespaces.size + reader.otherObjects.size === 0;
  if (nothing && reader.faults.length === 0) {
    // an empty pipe means that the command before it failed
    const [only = standardInput, ...others] = [...names, ...kustomize];
    const file = others.length === 0 && only !== standardInput ? only : standardInputName;
    reader.faults.push(faultAt({ file }, 'CNI_GATE_INPUT_UNREADABLE', 'there are no objects in the input'));
  }
  return notRead;
}

/** Whether pods of a namespace are meant to get a check, as far as known. */
const isExpected = (uncalled: Uncalled | undefined): boolean =>
  uncalled === undefined || uncalled === 'namespace-not-given';

async function judgeAll(
  reader: ManifestReader,
  admission: Admission,
  { assumeMeshed = false, progress }: ReviewOptions,
): Promise<Reviewed[]> {
  const reviewed: Reviewed[] = [];
  for (const [index, workload] of reader.workloads.entries()) {
    progress.tell(() => `reviewing ${index} of ${reader.workloads.length}`);
    const result = await judge(workload, admission, assumeMeshed);
    // the body is not needed again, and is as large as the input
    workload.body = asked;
    if ('verdict' in result) {
      const { gaps, ...one } = result;
      reviewed.push(one);
      reader.findings.push(...gaps.map((gap) => proxyMissing(workload, gap)));
    } else if ('code' in result) reader.faults.push(result);
    else reader.countOther(`AdmissionReview of ${result.otherKind}`);
  }
  return reviewed;
}

function findingsOf(
  reviewed: readonly Reviewed[],
  { findings, namespaces, jobFaults }: ManifestReader,
  admission: ReviewOptions['admission'],
): Finding[] {
  const offline = 'policy' in admission;
  const optIn = !offline ? 'server' : admission.profile === undefined ? 'labels' : 'profile';
  const join = offline ? (profile: string) => admission.policy.join(profile) : undefined;
  return [
    ...findings,
    // in this mode a proof that fails ends with 0
    ...(offline && admission.policy.proof.mode === 'warn' ? [] : jobFindings(reviewed, jobFaults)),
    ...coverageFindings(reviewed, namespaces, findings, optIn, join),
  ];
}
const asked = (): never => {
  throw new TypeError('a workload is asked about once');
};
