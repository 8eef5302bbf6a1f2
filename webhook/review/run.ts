import { resolve } from 'node:path';
import { coverageFindings } from './findings.ts';
import { manifestReader } from './input/manifest-reader.ts';
import { expand, mostInput, readInput, readStream, standardInput, standardInputName } from './input/read.ts';
import { jobFindings } from './jobs.ts';
import { type JudgeOptions, judgeFor } from './judge.ts';
import { proxyMissing } from './mesh.ts';
import type { Fault, Report, Reviewed } from './model.ts';

/** What to review, and how. */
export interface ReviewOptions extends JudgeOptions {
  /** Files, folders, globs, and `-` for standard input. */
  names: readonly string[];
  /** The namespace of objects that name no namespace. */
  namespace: string;
}

/** Reads all input, then judges each workload as the server's `/mutate` does. */
export async function review(options: ReviewOptions): Promise<Report> {
  const { policy, profile, namespace } = options;
  const reader = manifestReader(namespace, policy.configuration.review.kinds);
  await readAll(options.names, reader);
  const { judge, uncalled } = judgeFor(options, reader.namespaces);
  const reviewed: Reviewed[] = [];
  for (const workload of reader.workloads) {
    const result = await judge(workload);
    if ('code' in result) reader.faults.push(result);
    else {
      reviewed.push({ workload, decision: result.decision });
      reader.findings.push(...result.gaps.map((gap) => proxyMissing(workload, gap)));
    }
  }
  const isExpected = (name: string): boolean => [undefined, 'namespace-not-given'].includes(uncalled(name));
  const manifests = reviewed.filter(({ workload }) => !workload.recorded);
  const findings = [
    ...reader.findings,
    ...reader.unknownObjects.filter((finding) => isExpected(finding.namespace ?? '')),
    // with `proof.mode: warn`, our init container exits with 0 even if its proof fails, so it fails no Job
    ...(policy.proof.mode === 'warn' ? [] : jobFindings(reviewed)),
  ];
  findings.push(...coverageFindings(manifests, reader, profile, findings));
  const { documents, faults, otherObjects, namespaces } = reader;
  return { reviewed, documents, faults, findings, otherObjects, namespaces: namespaces.size };
}

/** Reads each file once. Each argument must provide objects, but a folder or glob may include empty files. */
async function readAll(names: readonly string[], reader: ReturnType<typeof manifestReader>): Promise<void> {
  const seen = new Set<string>();
  let left = mostInput();
  for (const name of names) {
    const before = reader.found();
    const all = expand(name);
    const unread = all.filter(
      (found) => typeof found !== 'string' || seen.size < seen.add(resolve(found)).size,
    );
    for (const found of unread) {
      const input = typeof found === 'string' ? await readInput(found, left) : found;
      if ('code' in input) reader.faults.push(input);
      else {
        left -= input.text.length;
        for (const document of readStream(input.file, input.text)) reader.take(document);
      }
    }
    // usually an empty pipe, because the command before it failed
    if (reader.found() === before && unread.length === all.length) reader.faults.push(withoutObjects(name));
  }
}

const withoutObjects = (name: string): Fault => ({
  code: 'CNI_GATE_INPUT_UNREADABLE',
  message: 'there are no objects in the input',
  file: name === standardInput ? standardInputName : name,
});
