import { clean } from '../../lib/clean.ts';
import { standardInputName } from '../input/files.ts';
import { placeOf, type Report, type Summary } from '../model.ts';
import { type Problem, problemsOf } from './problems.ts';
import { totals } from './text.ts';

/**
 * The output for a step of GitHub Actions: a workflow command for each problem, then totals. It contains no other text
 * of the input, because a runner looks for commands in every line. Source: GitHub's documentation, "Workflow commands".
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
