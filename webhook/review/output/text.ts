import { createTwoFilesPatch, FILE_HEADERS_ONLY } from 'diff';
import jsonpatch from 'fast-json-patch';
import { clean } from '../../lib/clean.ts';
import { valueAt } from '../../lib/json.ts';
import { writeYaml } from '../../lib/yaml.ts';
import { parsed } from '../input/read.ts';
import {
  exitCodeOf,
  type Finding,
  nameOf,
  notesOn,
  placeOf,
  type Report,
  type Reviewed,
  type SourceDocument,
  type Summary,
} from '../model.ts';

/** How to write the text. */
export interface TextOptions {
  /** Colours a text, or returns it unchanged. */
  paint: (style: 'bold' | 'dim' | 'green' | 'red' | 'yellow', text: string) => string;
  /** Whether warnings and findings cause exit code 1. */
  strict: boolean;
  /** Whether to show a diff of each workload that changes. */
  diff: boolean;
}

/** The text output: for each workload a header and, if requested, a unified diff; then findings and totals. */
export function* textOutput(report: Report, summary: Summary, options: TextOptions): Generator<string> {
  const findings = Map.groupBy(report.findings, ({ workload }) => workload);
  for (const entry of report.reviewed) {
    const lines = [header(entry, options), ...notes(entry, findings.get(entry.workload) ?? [], options)];
    // the patch of a skipped workload only updates cni-gate's records, such as the status annotation
    const isChanged = entry.decision.operations.length > 0 && entry.decision.outcome !== 'skipped';
    if (options.diff && isChanged) lines.push(...diff(entry, options));
    yield text(lines);
  }
  yield text([...findingLines(findings.get(undefined) ?? [], options), ...totals(summary, options)]);
}

const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

/** The line above the changes of a workload: outcome, name, place and reason. */
function header({ workload, decision }: Reviewed, { paint }: TextOptions): string {
  const { outcome, reason, profiles, message, checks } = decision;
  const place = `${workload.document.file}:${workload.line}`;
  const why = profiles.join(', ') || message || reason;
  const name = paint('bold', clean(nameOf(workload)));
  const style = outcome === 'refused' ? 'red' : checks.length > 0 ? 'green' : 'yellow';
  return `${paint(style, outcome)} ${name} (${clean(place)}): ${clean(why)}`;
}

function notes(entry: Reviewed, findings: readonly Finding[], options: TextOptions): string[] {
  return [
    ...notesOn(entry.decision).map((note) => `  note: ${clean(note)}`),
    ...[...entry.decision.warnings, ...findings.map(textOf)].map(
      (text) => `  ${label(options)}: ${clean(text)}`,
    ),
  ];
}

const textOf = ({ message, code }: Finding): string => `${message} (${code})`;

/** The label of a warning: `error` if it fails the review. */
const label = ({ paint, strict }: TextOptions): string =>
  strict ? paint('red', 'error') : paint('yellow', 'warning');

/** The lines of a unified diff of a workload's object. Both sides are written from parsed values. */
function diff({ workload, decision }: Reviewed, { paint }: TextOptions): string[] {
  const { document, path } = workload;
  const object = valueAt(parsed(document).value, path);
  const { newDocument } = jsonpatch.applyPatch(object, decision.operations, false, false);
  const texts = [written(document, object), written(document, newDocument)] as const;
  const names = [document.file, `${document.file} as admitted`] as const;
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
  const patch = createTwoFilesPatch(...names, ...texts, undefined, undefined, options);
  const style = { '+': 'green', '-': 'red', '@': 'dim', ' ': undefined } as const;
  return patch.split('\n').map((line) => {
    const colour = style[line.charAt(0) as keyof typeof style];
    return colour === undefined ? clean(line) : paint(colour, clean(line));
  });
}

/** Findings, each with the name and position of its subject. */
const findingLines = (findings: readonly Finding[], options: TextOptions): string[] =>
  findings.map((finding) => {
    const name = options.paint('bold', clean(finding.subject));
    return `${label(options)} ${name} (${clean(placeOf(finding))}): ${clean(textOf(finding))}`;
  });

/** The totals; the last word is `passed` or `failed`. The first and last line contain no text of the input. */
export function totals(
  summary: Summary,
  { paint, strict }: Omit<TextOptions, 'diff'>,
): [string, string, string] {
  const { workloads, injected, skipped, refused, errors, otherObjects } = summary;
  const changed = (['updated', 'current', 'removed', 'warned'] as const).filter((one) => summary[one] > 0);
  const outcomes = [
    `${injected} injected`,
    ...changed.map((one) => `${summary[one]} ${one}`),
    ...(sum(skipped) > 0 ? [`${sum(skipped)} skipped${counts(skipped)}`] : []),
    `${refused} refused`,
  ];
  const rest = [
    counted(summary.warnings + summary.findings, strict ? 'error' : 'warning'),
    `${counted(sum(otherObjects), 'other object')}${clean(counts(otherObjects))}`,
    ...(errors > 0 ? [`${errors} unreadable`] : []),
  ];
  const passed = exitCodeOf(summary, strict) === 0;
  return [
    `reviewed ${counted(workloads, 'workload')}: ${outcomes.join(', ')}`,
    rest.join(', '),
    passed ? paint('green', 'passed') : paint('red', 'failed'),
  ];
}

const counts = (by: Record<string, number>): string => {
  const each = Object.entries(by).map(([name, count]) => `${name} ${count}`);
  return each.length === 0 ? '' : ` (${each.join(', ')})`;
};
const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
const sum = (by: Record<string, number>): number => Object.values(by).reduce((a, b) => a + b, 0);

/**
 * The YAML output: the input with the patches applied. It contains all documents in their order, including ignored and
 * unreadable ones. Documents without a patch are unchanged; patched ones are written from their values, so they lose
 * comments, as with the injectors of meshes.
 */
export function* yamlOutput(report: Report): Generator<string> {
  const byDocument = Map.groupBy(report.reviewed, (entry) => entry.workload.document);
  let before = '';
  for (const document of report.documents) {
    const text = patchedText(document, byDocument.get(document) ?? []);
    // adds `---` before a document that has none: the first of a file, and any JSON value
    if (before !== '') {
      if (!before.endsWith('\n')) yield '\n';
      if (!/^---(?=\s|$)/.test(text)) yield '---\n';
    }
    yield text;
    before = text;
  }
}

function patchedText(document: SourceDocument, reviewed: readonly Reviewed[]): string {
  if (reviewed.every(({ decision }) => decision.operations.length === 0)) return document.text;
  // a copy in which each YAML alias has its own object, because a patch must not change the others
  const value: unknown = jsonpatch.deepClone(parsed(document).value);
  for (const { workload, decision } of reviewed)
    jsonpatch.applyPatch(valueAt(value, workload.path), decision.operations);
  return written(document, value);
}

const written = ({ json }: SourceDocument, value: unknown): string =>
  json ? `${JSON.stringify(value, null, 2)}\n` : writeYaml(value);
