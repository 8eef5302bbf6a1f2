import { builtInKinds } from '../config/builtin.ts';
import { type InProcess, inProcess } from './ask/in-process.ts';
import { type Admission, judge, type Uncalled } from './ask/judge.ts';
import { changesSince, compareWith, onlyChanged } from './changes.ts';
import { coverageFindings, lostOptIns, withoutRepeated } from './findings/coverage.ts';
import { jobFindings } from './findings/jobs.ts';
import { readStream } from './input/documents.ts';
import { expandInputs, readInput, standardInput, standardInputName } from './input/files.ts';
import { renderKustomization } from './input/kustomize.ts';
import { mostInput } from './input/limits.ts';
import { withLines } from './input/locate.ts';
import { ManifestReader } from './input/manifest-reader.ts';
import { proxyMissing } from './mesh/gaps.ts';
import { type Finding, faultAt, type Report, type Reviewed } from './model.ts';

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
}

/**
 * Reads everything, then asks admission about each workload.
 *
 * @throws CniGateError CNI_GATE_SERVER if a server gives no valid answer; CNI_GATE_GIT, CNI_GATE_GIT_REVISION or
 *   CNI_GATE_INPUT_TOO_LARGE if the input cannot be compared with the revision
 */
export async function review(options: ReviewOptions): Promise<Report> {
  const { admission, names, namespace, changedSince } = options;
  const kinds = 'policy' in admission ? admission.policy.templateKinds : builtInKinds();
  const newReader = (): ManifestReader => new ManifestReader(namespace, kinds);
  const revision = changedSince === undefined ? undefined : await compareWith(changedSince);
  const reader = newReader();
  const notRead = await readAll(options, reader);
  const changes = revision && (await changesSince(revision, names, reader, newReader));
  if (changes !== undefined && !('policy' in admission && admission.profile !== undefined)) {
    reader.findings.push(...lostOptIns(changes.before, reader.namespaces));
  }
  const ask = 'policy' in admission ? inProcess(admission, reader.namespaces) : admission;
  const reviewed = await judgeAll(reader, ask, options);
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
  return withoutRepeated(changes === undefined ? report : onlyChanged(report, changes));
}

/** @returns the paths that were not read */
async function readAll({ names, kustomize = [] }: ReviewOptions, reader: ManifestReader): Promise<string[]> {
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
  { assumeMeshed = false }: ReviewOptions,
): Promise<Reviewed[]> {
  const reviewed: Reviewed[] = [];
  for (const workload of reader.workloads) {
    const result = await judge(workload, admission, assumeMeshed);
    // it is not needed again, and is as large as the input
    workload.body = () => undefined;
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
    ...coverageFindings(reviewed, namespaces, optIn, join),
  ];
}
