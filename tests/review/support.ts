import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { reviewCommand } from '../../webhook/commands/review.ts';
import { type ReviewFlags, type ReviewResult, resultOf } from '../../webhook/commands/run-review.ts';
import { readPolicy } from '../../webhook/config/load.ts';
import * as yaml from '../../webhook/lib/yaml.ts';
import { type Report, type Summary, summarize } from '../../webhook/review/model.ts';
import { answersOutput, jsonOutput } from '../../webhook/review/output/json.ts';
import { junitOutput } from '../../webhook/review/output/junit.ts';
import { textOutput } from '../../webhook/review/output/text.ts';
import { yamlOutput } from '../../webhook/review/output/yaml.ts';
import { type ReviewOptions, review } from '../../webhook/review/run.ts';
import { schemaFaults } from '../support/schemas.ts';

/** A folder with these files, which is removed when the test ends. */
export function folderWith(t: TestContext, files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-review-'));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

export interface Reviewed {
  report: Report;
  summary: Summary;
  /** `outcome reason kind namespace/name` of each workload. */
  reported: string[];
  /** `line: message` of each fault. */
  faults: string[];
  text(strict?: boolean): string;
  /** The text without diffs. */
  brief(): string;
  /** `code subject` of each finding. */
  findings: string[];
  json(): JsonReport;
  answers(): string;
  yaml(): string;
  junit(strict?: boolean): string;
}

export interface JsonReport {
  summary: Summary;
  workloads: {
    apiVersion: string;
    kind: string;
    namespace: string;
    name: string;
    file: string;
    line: number;
    outcome: string;
    reason: string;
    part?: string;
    assumed?: string[];
    needsServer?: string;
    checks: string[];
    profiles: string[];
    warnings: string[];
    message?: string;
    patch: { op: string; path: string; value?: unknown }[];
  }[];
  findings: { code: string; message: string; subject: string; file: string; line?: number }[];
  errors: { code: string; message: string; file: string; line?: number }[];
}

export interface Flags {
  profile?: string;
  namespace?: string;
  /** Text of a configuration file. */
  config?: string;
  assumeMeshed?: boolean;
  ownNamespace?: string;
}

/** Reviews texts as the files of a folder, in the order of their names. No other process is started. */
export async function reviewFiles(
  t: TestContext,
  files: Record<string, string>,
  { profile, namespace = 'default', config, assumeMeshed = false, ownNamespace = 'cni-gate' }: Flags = {},
): Promise<Reviewed> {
  const folder = folderWith(t, files);
  const policy = readPolicy(
    config === undefined ? undefined : join(folderWith(t, { 'config.yaml': config }), 'config.yaml'),
  );
  return reviewNames({
    names: [folder],
    namespace,
    admission: { policy, profile, ownNamespace },
    assumeMeshed,
  });
}

/** Reviews one text as a file. */
export const reviewText = (t: TestContext, text: string, flags: Flags = {}): Promise<Reviewed> =>
  reviewFiles(t, { 'input.yaml': text }, flags);

const paint = (_: string, text: string): string => text;

const joined = (texts: Iterable<string>): string => [...texts].join('');

const jsonFaults = schemaFaults('review');

export async function reviewNames(options: ReviewOptions): Promise<Reviewed> {
  const report = await review(options);
  const summary = summarize(report);
  const json: JsonReport = JSON.parse(jsonOutput(report, summary));
  assert.deepEqual(jsonFaults(json), []);
  return {
    report,
    summary,
    reported: report.reviewed.map(({ workload, decision }) => {
      const { kind, namespace, name } = workload;
      return `${decision.outcome} ${decision.reason} ${kind} ${namespace}/${name}`;
    }),
    faults: report.faults.map((fault) => `${fault.line}: ${fault.message}`),
    text: (strict = false) => joined(textOutput(report, summary, { paint, strict, diff: true })),
    brief: () => joined(textOutput(report, summary, { paint, strict: false, diff: false })),
    findings: report.findings.map(({ code, subject }) => `${code.slice('CNI_GATE_'.length)} ${subject}`),
    json: () => json,
    answers: () => answersOutput(report),
    yaml: () => joined(yamlOutput(report)),
    junit: (strict = false) => junitOutput(report, strict, '/'),
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
