import { clean } from '../../lib/clean.ts';
import { standardInputName } from '../input/files.ts';
import type { Report } from '../model.ts';
import { exitCodeOf, type Summary } from '../summary.ts';
import { messageWithSubject, type Problem, problemsOf } from './problems.ts';
import { pathFrom, type Root } from './root.ts';

/**
 * The output for a step of GitHub Actions: a workflow command for each problem, which GitHub shows at the line of the
 * file, then a line with totals. No other text of the input is in it, because a runner looks for commands in every line.
 *
 * Source: GitHub's documentation, "Workflow commands for GitHub Actions".
 */
export function githubOutput(report: Report, summary: Summary, strict: boolean, root: Root): string {
  const problems = problemsOf(report, strict);
  const { workloads, injected, updated, current, refused, unchanged } = summary;
  const unit = workloads === 1 ? 'workload' : 'workloads';
  const checked = injected + updated + current;
  const left = unchanged === undefined ? '' : ` (${unchanged} unchanged)`;
  const totals = `reviewed ${workloads} ${unit}${left}: ${checked} with a check, ${refused} refused, ${problems.length} ${problems.length === 1 ? 'problem' : 'problems'}: ${exitCodeOf(summary, strict) === 0 ? 'passed' : 'failed'}`;
  return [...problems.map((problem) => annotation(problem, root)), totals]
    .map((line) => `${line}\n`)
    .join('');
}

function annotation(problem: Problem, root: Root): string {
  const { level, code, file, line, column } = problem;
  const isFile = file !== standardInputName;
  const properties = [
    ['title', code],
    ...(isFile ? [['file', pathFrom(root, file)]] : []),
    // a line without a file would be one of the workflow itself
    ...(isFile && line !== undefined ? [['line', String(line)]] : []),
    ...(isFile && column !== undefined ? [['col', String(column)]] : []),
  ].map(([name, value = '']) => `${name}=${escapeProperty(clean(value))}`);
  const place = isFile
    ? ''
    : [file, line, column]
        .filter((part) => part !== undefined)
        .join(':')
        .concat(': ');
  return `::${level} ${properties.join(',')}::${escapeData(clean(`${place}${messageWithSubject(problem)}`))}`;
}

/** Escapes the text of a command, as `escapeData` of the toolkit of GitHub's actions does. */
const escapeData = (text: string): string =>
  text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');

/** Escapes a property of a command, which ends at a comma, or at the colons before the text. */
const escapeProperty = (text: string): string =>
  escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
