import { pathToFileURL } from 'node:url';
import { errorCodes, errorPage, isErrorCode } from '../../lib/errors.ts';
import { docsUrl } from '../../lib/names.ts';
import { version } from '../../lib/version.ts';
import type { Report } from '../model.ts';
import { type Problem, problemsOf } from './problems.ts';

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
