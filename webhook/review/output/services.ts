import { pathToFileURL } from 'node:url';
import { clean } from '../../lib/clean.ts';
import { errorCodes, errorPage, isErrorCode } from '../../lib/errors.ts';
import { docsUrl } from '../../lib/names.ts';
import { version } from '../../lib/version.ts';
import { standardInputName } from '../input/files.ts';
import { placeOf, type Report, type Summary } from '../model.ts';
import { type Problem, problemsOf } from './problems.ts';
import { totals } from './text.ts';

/* The reports for services that show problems beside the code. */

/**
 * The SARIF 2.1.0 output: a rule for each error code that occurs, and a result for each problem. Sources: OASIS, "Static
 * Analysis Results Interchange Format 2.1.0"; GitHub's documentation, "SARIF support for code scanning".
 */
export function sarifOutput(report: Report, strict: boolean, root: string): string {
  const problems = problemsOf(report, strict, root);
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
export function gitlabOutput(report: Report, strict: boolean, root: string): string {
  const violations = problemsOf(report, strict, root).map(
    ({ text, code, fingerprint, level, file, line = 1 }) => ({
      description: text,
      check_name: code,
      fingerprint,
      severity: level === 'error' ? 'major' : 'minor',
      // the format requires a line
      location: { path: file, lines: { begin: line } },
    }),
  );
  return `${JSON.stringify(violations, null, 2)}\n`;
}

/**
 * The output for a step of GitHub Actions: a workflow command for each problem, then totals. Nothing else of the input
 * is printed, because the runner looks for commands in every line. Source: GitHub's documentation, "Workflow commands".
 */
export function githubOutput(report: Report, summary: Summary, strict: boolean, root: string): string {
  const [reviewed, , end] = totals(summary, { paint: (_, text) => text, strict });
  const annotations = problemsOf(report, strict, root).map(annotation);
  return [...annotations, reviewed, end].map((line) => `${line}\n`).join('');
}

function annotation({ level, code, text, file, line, column }: Problem): string {
  // without a file, GitHub would take the line for one of the workflow file
  const isFile = file !== standardInputName;
  const place = isFile ? { file, line, col: column } : {};
  const properties = Object.entries({ title: code, ...place })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${escapeProperty(clean(String(value)))}`);
  const before = isFile ? '' : `${placeOf({ file, line, column })}: `;
  return `::${level} ${properties.join(',')}::${escapeData(before + text)}`;
}

/** Escapes the text of a command, as `escapeData` of the toolkit of GitHub's actions does. */
const escapeData = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

/** Escapes a property of a command. A comma ends a property, and two colons end the properties. */
const escapeProperty = (text: string): string =>
  escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
