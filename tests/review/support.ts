import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { structuredPatch } from 'diff';
import { readPolicy } from '../../webhook/config/file.ts';
import { parseManifest } from '../../webhook/review/input/yaml.ts';
import type { Report } from '../../webhook/review/model.ts';
import { answersOutput, jsonOutput } from '../../webhook/review/output/json.ts';
import { junitOutput } from '../../webhook/review/output/junit.ts';
import { tableOutput } from '../../webhook/review/output/table.ts';
import { painter, textOutput } from '../../webhook/review/output/text.ts';
import { yamlOutput } from '../../webhook/review/output/yaml.ts';
import { Progress } from '../../webhook/review/progress.ts';
import { type ReviewOptions, review } from '../../webhook/review/run.ts';
import { type Summary, summarize } from '../../webhook/review/summary.ts';

/** A folder with files in it, gone when the test ends. */
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
  table(): string;
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
    unknownKind?: true;
    assumed?: string[];
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
}

/** Reviews texts as files in a folder, in the order of their names, in this process. */
export async function reviewFiles(
  t: TestContext,
  files: Record<string, string>,
  { profile, namespace = 'default', config, assumeMeshed = false }: Flags = {},
): Promise<Reviewed> {
  const folder = folderWith(t, files);
  const policy = readPolicy(
    config === undefined ? undefined : join(folderWith(t, { 'config.yaml': config }), 'config.yaml'),
  );
  return reviewNames({ names: [folder], namespace, admission: { policy, profile }, assumeMeshed });
}

/** Reviews one text. */
export const reviewText = (t: TestContext, text: string, flags: Flags = {}): Promise<Reviewed> =>
  reviewFiles(t, { 'input.yaml': text }, flags);

export async function reviewNames(options: Omit<ReviewOptions, 'progress'>): Promise<Reviewed> {
  const report = await review({ ...options, progress: new Progress({ write: () => true }) });
  const summary = summarize(report);
  return {
    report,
    summary,
    reported: report.reviewed.map(({ workload, verdict }) => {
      const { kind, namespace, name } = workload;
      return `${verdict.outcome} ${verdict.reason} ${kind} ${namespace}/${name}`;
    }),
    faults: report.faults.map((fault) => `${fault.line}: ${fault.message}`),
    text: (strict = false) => textOutput(report, summary, { paint: painter(false), strict }),
    table: () => tableOutput(report, summary, { paint: painter(false) }),
    findings: report.findings.map(({ code, subject }) => `${code.slice('CNI_GATE_'.length)} ${subject}`),
    json: () => JSON.parse(jsonOutput(report, summary)),
    answers: () => answersOutput(report),
    yaml: () => yamlOutput(report),
    junit: (strict = false) => junitOutput(report, strict),
  };
}

/** A Namespace that opts in. */
export const namespaceOf = (name: string, profile: string): string =>
  `apiVersion: v1\nkind: Namespace\nmetadata:\n  name: ${name}\n  labels:\n    cni-gate.io/profile: ${profile}\n`;

/** A pod that everything can be injected into. */
export const pod = (name: string, namespace = 'shop'): string =>
  `apiVersion: v1\nkind: Pod\nmetadata:\n  name: ${name}\n  namespace: ${namespace}\nspec:\n  containers:\n    - name: app\n      image: app:1\n`;

/** A text without the line breaks that its width asks for. */
export const unwrapped = (text: string): string => text.replaceAll(/\n +/g, ' ');

/** The value of a YAML document, as review reads it. */
export const readYaml = (text: string): unknown => parseManifest(text).value;

/** The lines of a unified diff of two texts. */
export const diffLines = (before: string, after: string): string[] =>
  structuredPatch('', '', before, after, undefined, undefined, { stripTrailingCr: true }).hunks.flatMap(
    ({ lines }) => lines,
  );
