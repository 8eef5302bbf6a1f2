import { XMLBuilder } from 'fast-xml-parser';
import { type Fault, type Finding, nameOf, placeOf, type Report, type Reviewed } from '../model.ts';
import { notesOn } from './problems.ts';

/** Attributes begin with `@`, text is `#text`. */
type Element = Record<string, unknown>;

/**
 * The JUnit output: a test suite for each file, with a test case for each workload and for each finding that is not
 * about a single workload. A refusal is a failure, and so are warnings and findings if strict; unreadable input is an
 * error.
 */
export function junitOutput(report: Report, strict: boolean): string {
  const faults = Map.groupBy(report.faults, (fault) => fault.file);
  const reviewed = Map.groupBy(report.reviewed, (one) => one.workload.document.file);
  const about = Map.groupBy(report.findings, (finding) => finding.workload);
  const others = Map.groupBy(about.get(undefined) ?? [], (finding) => finding.file);
  const files = new Set([...report.documents.map((document) => document.file), ...faults.keys()]);
  const suites = [...files].map((file) =>
    suite(file, [
      ...(reviewed.get(file) ?? []).map((one) => testCase(one, about.get(one.workload) ?? [], strict)),
      ...(others.get(file) ?? []).map((finding) => findingCase(finding, strict)),
      ...(faults.get(file) ?? []).map(errorCase),
    ]),
  );
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
    '@name': xml(file),
    '@tests': String(cases.length),
    '@failures': count('failure'),
    '@errors': count('error'),
    '@skipped': count('skipped'),
    testcase: cases,
  };
}

function testCase(one: Reviewed, findings: readonly Finding[], strict: boolean): Element {
  const { workload, verdict } = one;
  const { outcome, reason, profiles, message } = verdict;
  const notes = notesOn(one);
  const warnings = [...verdict.warnings, ...findings.map(textOf)];
  const failure =
    outcome === 'refused'
      ? { '@message': xml(message ?? reason), '@type': reason }
      : strict && warnings.length > 0
        ? { '@message': xml(warnings.join('; ')), '@type': findings[0]?.code ?? reason }
        : undefined;
  return {
    '@name': xml(nameOf(workload)),
    '@classname': xml(workload.document.file),
    '@file': xml(workload.document.file),
    '@line': String(workload.line),
    // a test case has one result
    ...(failure !== undefined ? { failure } : outcome === 'skipped' && { skipped: { '@message': reason } }),
    'system-out': xml([`${outcome}: ${profiles.join(', ') || reason}`, ...notes, ...warnings].join('\n')),
  };
}

function findingCase(finding: Finding, strict: boolean): Element {
  const { subject, file, line, code } = finding;
  return {
    '@name': xml(subject),
    '@classname': xml(file),
    '@file': xml(file),
    ...(line !== undefined && { '@line': String(line) }),
    ...(strict && {
      failure: { '@message': xml(textOf(finding)), '@type': code },
    }),
    'system-out': xml(textOf(finding)),
  };
}

const textOf = ({ message, code }: Finding): string => `${message} (${code})`;

function errorCase(fault: Fault): Element {
  const { code, message, file, line } = fault;
  return {
    '@name': xml(placeOf(fault)),
    '@classname': xml(file),
    '@file': xml(file),
    ...(line !== undefined && { '@line': String(line) }),
    error: { '@message': xml(message), '@type': code },
  };
}

/** Text without characters that XML 1.0 excludes (its production `Char`). */
const xml = (text: string): string =>
  text.replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\u{fffd}');
