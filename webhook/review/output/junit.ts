import { XMLBuilder } from 'fast-xml-parser';
import { type Finding, nameOf, notesOn, placeOf, type Report, type Reviewed } from '../model.ts';

/** Attributes begin with `@`, text is `#text`. */
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
    ...(findings.get(undefined) ?? []).map((finding) => findingCase(finding, strict)),
    ...report.faults.map((fault) => {
      const error = { '@message': xml(fault.message), '@type': fault.code };
      return testCase(placeOf(fault), fault.file, fault.line, { error });
    }),
  ];
  const byFile = Map.groupBy(cases, (one) => one['@file']);
  const files = new Set([...report.documents.map(({ file }) => xml(file)), ...byFile.keys()]);
  const suites = [...files].map((file) => suite(String(file), byFile.get(file) ?? []));
  const builder = new XMLBuilder({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    format: true,
    suppressEmptyNode: true,
  });
  const body = builder.build({ testsuites: { '@name': 'cni-gate review', testsuite: suites } });
  return `<?xml version="1.0" encoding="UTF-8"?>\n${body}`;
}

function suite(file: string, cases: Element[]): Element {
  const count = (name: string): string => String(cases.filter((one) => name in one).length);
  return {
    '@name': file,
    '@tests': String(cases.length),
    '@failures': count('failure'),
    '@errors': count('error'),
    '@skipped': count('skipped'),
    testcase: cases,
  };
}

const testCase = (name: string, file: string, line: number | undefined, result: Element): Element => ({
  '@name': xml(name),
  '@classname': xml(file),
  '@file': xml(file),
  ...(line !== undefined && { '@line': String(line) }),
  ...result,
});

function workloadCase(one: Reviewed, findings: readonly Finding[], strict: boolean): Element {
  const { workload, verdict } = one;
  const { outcome, reason, profiles, message = reason } = verdict;
  const warnings = [...verdict.warnings, ...findings.map(textOf)];
  const out = [`${outcome}: ${profiles.join(', ') || reason}`, ...notesOn(one), ...warnings];
  const failure =
    outcome === 'refused'
      ? { '@message': xml(message), '@type': reason }
      : strict && warnings.length > 0
        ? { '@message': xml(warnings.join('; ')), '@type': findings[0]?.code ?? reason }
        : undefined;
  return testCase(nameOf(workload), workload.document.file, workload.line, {
    // a test case has one result
    ...(failure !== undefined ? { failure } : outcome === 'skipped' && { skipped: { '@message': reason } }),
    'system-out': xml(out.join('\n')),
  });
}

function findingCase(finding: Finding, strict: boolean): Element {
  const text = xml(textOf(finding));
  const failure = { '@message': text, '@type': finding.code };
  return testCase(finding.subject, finding.file, finding.line, {
    ...(strict && { failure }),
    'system-out': text,
  });
}

const textOf = ({ message, code }: Finding): string => `${message} (${code})`;

/** Text without characters that XML 1.0 excludes (its production `Char`). */
const xml = (text: string): string =>
  text.replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\u{fffd}');
