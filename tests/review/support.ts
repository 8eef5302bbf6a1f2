import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { reviewCommand } from '../../webhook/commands/review.ts';
import { type ReviewFlags, type ReviewResult, resultOf } from '../../webhook/commands/run-review.ts';
import { parsePolicy } from '../../webhook/config/load.ts';
import * as yaml from '../../webhook/lib/yaml.ts';
import { summarize } from '../../webhook/review/model.ts';
import { answersOutput, jsonOutput } from '../../webhook/review/output/reports.ts';

import { textOutput, yamlOutput } from '../../webhook/review/output/text.ts';
import { type ReviewOptions, review } from '../../webhook/review/run.ts';
import { folderWith } from '../support/folder.ts';
import { schemaFaults } from '../support/schemas.ts';

export type Reviewed = Awaited<ReturnType<typeof reviewNames>>;

// biome-ignore lint/suspicious/noExplicitAny: the JSON report, whose schema is schemas/review.json
type JsonReport = Record<'summary', any> & Record<'workloads' | 'findings' | 'errors', Record<string, any>[]>;

export interface Flags {
  profile?: string;
  namespace?: string;
  /** Text of a configuration file. */
  config?: string;
  assumeMeshed?: boolean;
}

/** Reviews texts as the files of a folder, in the order of their names, within this process. */
export const reviewFiles = (
  t: TestContext,
  files: Record<string, string>,
  { config, ...flags }: Flags = {},
): Promise<Reviewed> => {
  const policy = parsePolicy(config);
  return reviewNames({ names: [folderWith(t, files)], policy, namespace: 'default', ...flags });
};

/** Reviews a text as if it were a file. */
export const reviewText = (t: TestContext, text: string, flags: Flags = {}): Promise<Reviewed> =>
  reviewFiles(t, { 'input.yaml': text }, flags);

const paint = (_: string, text: string): string => text;

const joined = (texts: Iterable<string>): string => [...texts].join('');

const jsonFaults = schemaFaults('review');

export async function reviewNames(options: ReviewOptions) {
  const report = await review(options);
  const summary = summarize(report);
  const json: JsonReport = JSON.parse(jsonOutput(report, summary));
  assert.deepEqual(jsonFaults(json), []);
  return {
    report,
    summary,
    /** `outcome reason kind namespace/name` of each workload. */
    reported: report.reviewed.map(({ workload, decision }) => {
      const { kind, namespace, name } = workload;
      return `${decision.outcome} ${decision.reason} ${kind} ${namespace}/${name}`;
    }),
    /** `line: message` of each fault. */
    faults: report.faults.map((fault) => `${fault.line}: ${fault.message}`),
    /** `code subject` of each finding. */
    findings: report.findings.map(({ code, subject }) => `${code.slice('CNI_GATE_'.length)} ${subject}`),
    text: (strict = false) => joined(textOutput(report, summary, { paint, strict, diff: true })),
    json: () => json,
    answers: () => answersOutput(report),
    yaml: () => joined(yamlOutput(report)),
  };
}

/**
 * Runs `cni-gate review` with these arguments in this process, and returns what it prints and its exit code.
 *
 * @throws CniGateError where the program would report an error
 */
export async function command(...args: string[]): Promise<ReviewResult & { output: string }> {
  const results: ReviewResult[] = [];
  await reviewCommand()
    .exitOverride()
    .configureOutput({ writeErr: () => {} })
    .action(async (paths: string[], flags: ReviewFlags) => {
      results.push(await resultOf({ ...flags, filename: [...paths, ...flags.filename] }));
    })
    .parseAsync(args, { from: 'user' });
  const [result] = results;
  if (result === undefined) throw new Error('there was no result');
  return { ...result, output: joined(result.output) };
}

/** The manifest of a Namespace that opts in. */
export const namespaceOf = (name: string, profile: string): string =>
  `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${name}\n  labels:\n    cni-gate.io/profile: ${profile}\n`;

/** The manifest of a pod into which the proof of every profile can be injected. */
export const pod = (name: string, namespace = 'shop'): string =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\nspec:\n  containers:\n    - name: app\n      image: app:1\n`;

/** The value of the first YAML document, as `review` reads it. */
export const readYaml = (text: string): unknown => yaml.readYaml(text)[0]?.value;

/** The manifest of a pod with the label `cni-gate.io/profile`, or with another label. */
export const labelled = (name: string, value: string, key = 'profile'): string =>
  pod(name).replace('metadata:', `metadata:\n  labels: {cni-gate.io/${key}: ${value}}`);
