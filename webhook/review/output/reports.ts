import { pathToFileURL } from 'node:url';
import { XMLBuilder } from 'fast-xml-parser';
import { clean } from '../../lib/clean.ts';
import { errorCodes, errorPage, isErrorCode } from '../../lib/errors.ts';
import { docsUrl } from '../../lib/names.ts';
import { version } from '../../lib/version.ts';
import { standardInputName } from '../input/read.ts';
import { nameOf, notesOn, placeOf, type Report, type Reviewed, type Summary } from '../model.ts';
import { type Problem, pathFrom } from './problems.ts';
import { totals } from './text.ts';

/* Outputs that other programs read. */

/** The JSON output: one document, in which the paths of patches begin at the workload's object. */
export function jsonOutput(report: Report, summary: Summary): string {
  const workloads = report.reviewed.map(({ workload, decision }) => {
    const { apiVersion, kind, namespace, name, part, document, line } = workload;
    const { operations: patch, podLabel: _, answer: __, ...outcome } = decision;
    const place = { file: document.file, line };
    return { apiVersion, kind, namespace, name, part, ...place, ...outcome, patch };
  });
  // without the objects that only this program needs; `subject` and `line` name the workload
  const findings = report.findings.map(({ workload: _, namespace: __, ...finding }) => finding);
  return `${JSON.stringify({ summary, workloads, findings, errors: report.faults }, null, 2)}\n`;
}

/** The answers that a server would give to recorded AdmissionReviews, one on each line, in the order of the input. */
export const answersOutput = (report: Report): string =>
  report.reviewed.map(({ decision }) => `${JSON.stringify(decision.answer)}\n`).join('');

/** An XML element. Keys that begin with `@` are its attributes. */
type Element = Record<string, unknown>;

/** The JUnit output: a test suite for each file, and a test case for each admitted workload and for each problem. */
export function junitOutput(report: Report, problems: readonly Problem[], root: string): string {
  const admitted = report.reviewed.filter(({ decision }) => decision.outcome !== 'refused');
  const cases = [...admitted.map((entry) => workloadCase(entry, root)), ...problems.map(problemCase)];
  const suites = [...Map.groupBy(cases, (entry) => entry['@file'])].map(([file, ofFile]) => {
    const failures = ofFile.filter((entry) => 'failure' in entry).length;
    return { '@name': file, '@tests': ofFile.length, '@failures': failures, testcase: ofFile };
  });
  const builder = new XMLBuilder({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    format: true,
    suppressEmptyNode: true,
  });
  const body = builder.build({ testsuites: { '@name': 'cni-gate review', testsuite: suites } });
  return `<?xml version="1.0" encoding="UTF-8"?>\n${body}`;
}

const testCase = (name: string, { file, line }: Pick<Problem, 'file' | 'line'>): Element => ({
  '@name': xml(name),
  '@classname': xml(file),
  '@file': xml(file),
  ...(line !== undefined && { '@line': line }),
});

function workloadCase({ workload, decision }: Reviewed, root: string): Element {
  const { outcome, reason, profiles } = decision;
  const file = pathFrom(root, workload.document.file);
  const out = [`${outcome}: ${profiles.join(', ') || reason}`, ...notesOn(decision)];
  return {
    ...testCase(nameOf(workload), { file, line: workload.line }),
    ...(outcome === 'skipped' && { skipped: { '@message': reason } }),
    'system-out': xml(out.join('\n')),
  };
}

const problemCase = (problem: Problem): Element => ({
  ...testCase(`${problem.subject ?? placeOf(problem)} ${problem.code}`, problem),
  ...(problem.level === 'error'
    ? { failure: { '@message': xml(problem.text), '@type': problem.code } }
    : { 'system-out': xml(problem.text) }),
});

/** Text without characters that XML 1.0 excludes (its production `Char`). */
const xml = (text: string): string =>
  text.replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\u{fffd}');

/**
 * The SARIF 2.1.0 output: a rule for each error code that occurs, and a result for each problem. Sources: OASIS, "Static
 * Analysis Results Interchange Format 2.1.0"; GitHub's documentation, "SARIF support for code scanning".
 */
export function sarifOutput(problems: readonly Problem[]): string {
  const rules = [...new Set(problems.map(({ code }) => code))].map(ruleOf);
  const driver = { name: 'cni-gate', semanticVersion: version, informationUri: guide, rules };
  const results = problems.map((problem) => ({
    ruleId: problem.code,
    level: problem.level,
    message: { text: problem.text },
    locations: [{ physicalLocation: locationOf(problem) }],
    partialFingerprints: { 'subjectAndMessage/v1': problem.fingerprint },
  }));
  const runs = [{ tool: { driver }, columnKind: 'utf16CodeUnits', results }];
  const $schema = 'https://json.schemastore.org/sarif-2.1.0.json';
  return `${JSON.stringify({ $schema, version: '2.1.0', runs }, null, 2)}\n`;
}

const guide = `${docsUrl}guides/review.md`;

const ruleOf = (code: string): object => ({
  id: code,
  shortDescription: {
    text: isErrorCode(code) ? errorCodes[code] : 'Admission allows the pod with a warning.',
  },
  helpUri: isErrorCode(code) ? errorPage(code) : `${guide}#in-ci---strict`,
});

function locationOf({ file, line, column }: Problem): object {
  const region = { startLine: line, ...(column !== undefined && { startColumn: column }) };
  return { artifactLocation: artifactOf(file), ...(line !== undefined && { region }) };
}

/** Services resolve `%SRCROOT%` to the root of the repository. */
const artifactOf = (path: string): object =>
  path.startsWith('/')
    ? { uri: pathToFileURL(path).href }
    : { uri: path.toWellFormed().split('/').map(encodeURIComponent).join('/'), uriBaseId: '%SRCROOT%' };

/** A Code Quality report for a merge request. Source: GitLab's documentation, "Code Quality report format". */
export function gitlabOutput(problems: readonly Problem[]): string {
  const violations = problems.map(({ text, code, fingerprint, level, file, line = 1 }) => ({
    description: text,
    check_name: code,
    fingerprint,
    severity: level === 'error' ? 'major' : 'minor',
    // the format requires a line number
    location: { path: file, lines: { begin: line } },
  }));
  return `${JSON.stringify(violations, null, 2)}\n`;
}

/**
 * The output for a step of GitHub Actions: a workflow command for each problem, then totals. No other text of the input
 * is printed, because the runner executes commands in any line. Source: GitHub's documentation, "Workflow commands".
 */
export function githubOutput(problems: readonly Problem[], summary: Summary, strict: boolean): string {
  const [reviewed, , end] = totals(summary, { paint: (_, text) => text, strict });
  return [...problems.map(annotation), reviewed, end].map((line) => `${line}\n`).join('');
}

function annotation({ level, code, text, file, line, column }: Problem): string {
  // without a file, GitHub would take the line number for a line of the workflow file
  const isFile = file !== standardInputName;
  const place = isFile ? { file, line, col: column } : {};
  const properties = Object.entries({ title: code, ...place })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${escapeProperty(clean(String(value)))}`);
  const before = isFile ? '' : `${placeOf({ file, line, column })}: `;
  return `::${level} ${properties.join(',')}::${escapeData(before + text)}`;
}

/** Escapes the text of a workflow command, like `escapeData` of GitHub's toolkit. */
const escapeData = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

/** Escapes a property of a workflow command, where a comma or two colons would end it. */
const escapeProperty = (text: string): string =>
  escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
