import { XMLBuilder } from 'fast-xml-parser';
import { type Finding, nameOf, notesOn, placeOf, type Report, type Reviewed, textOf } from '../model.ts';

/** Attributes begin with `@`. */
type Element = Record<string, unknown>;

/**
 * The JUnit output: a test suite for each file, with a test case for each workload and for each finding that is not
 * about a single workload. A refusal is a failure, and so are warnings and findings if strict; unreadable input is an
 * error.
 */
export function junitOutput(report: Report, strict: boolean): string {
  const findings = Map.groupBy(report.findings, ({ workload }) => workload);
  const cases = [
    ...report.reviewed.map((one) => workloadCase(one, findings.get(one.workload) ?? [], strict)),
    ...(findings.get(undefined) ?? []).map((finding) => {
      const text = textOf(finding);
      const failure = strict && { failure: resultOf(text, finding.code) };
      return testCase(finding.subject, finding, { ...failure, 'system-out': xml(text) });
    }),
    ...report.faults.map((fault) =>
      testCase(placeOf(fault), fault, { error: resultOf(fault.message, fault.code) }),
    ),
  ];
  const suites = [...Map.groupBy(cases, (one) => one['@file'])].map(([file, ofFile]) => {
    const count = (name: string): number => ofFile.filter((one) => name in one).length;
    const failed = { '@failures': count('failure'), '@errors': count('error') };
    return { '@name': file, '@tests': ofFile.length, ...failed, testcase: ofFile };
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

const testCase = (
  name: string,
  { file, line }: { file: string; line?: number },
  result: Element,
): Element => ({
  '@name': xml(name),
  '@classname': xml(file),
  '@file': xml(file),
  ...(line !== undefined && { '@line': line }),
  ...result,
});

const resultOf = (message: string, type: string): Element => ({ '@message': xml(message), '@type': type });

function workloadCase(one: Reviewed, findings: readonly Finding[], strict: boolean): Element {
  const { workload, verdict } = one;
  const { outcome, reason, profiles, message = reason } = verdict;
  const warnings = [...verdict.warnings, ...findings.map(textOf)];
  const out = [`${outcome}: ${profiles.join(', ') || reason}`, ...notesOn(one), ...warnings];
  const failed = outcome === 'refused' ? message : strict ? warnings.join('; ') : '';
  return testCase(
    nameOf(workload),
    { file: workload.document.file, line: workload.line },
    {
      ...(failed !== ''
        ? { failure: resultOf(failed, findings[0]?.code ?? reason) }
        : outcome === 'skipped' && { skipped: { '@message': reason } }),
      'system-out': xml(out.join('\n')),
    },
  );
}

/** Text without characters that XML 1.0 excludes (its production `Char`). */
const xml = (text: string): string =>
  text.replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\u{fffd}');
