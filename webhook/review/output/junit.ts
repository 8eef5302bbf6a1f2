import { XMLBuilder } from 'fast-xml-parser';
import { nameOf, notesOn, placeOf, type Report, type Reviewed } from '../model.ts';
import { type Problem, pathFrom } from './problems.ts';

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
