import { XMLBuilder } from 'fast-xml-parser';
import { nameOf } from '../ask/judge.ts';
import { type Fault, type Judged, placeOf, type Report } from '../model.ts';
import { isUncalled } from '../summary.ts';

/** Attributes begin with `@`, text is `#text`. */
type Element = Record<string, unknown>;

/**
 * For CI systems: a test suite for each file, a test case for each workload. A refusal is a failure, and so is a
 * warning if strict; workloads of namespaces that did not opt in are skipped; what could not be read is an error.
 */
export function junitOutput(report: Report, strict: boolean): string {
  const faults = Map.groupBy(report.faults, (fault) => fault.file);
  const judged = Map.groupBy(report.judged, (one) => one.workload.document.file);
  const files = new Set([...report.documents.map((document) => document.file), ...faults.keys()]);
  const suites = [...files].map((file) =>
    suite(file, [
      ...(judged.get(file) ?? []).map((one) => testCase(one, strict)),
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

function testCase({ workload, verdict }: Judged, strict: boolean): Element {
  const { outcome, reason, warnings, profiles, message } = verdict;
  const failure =
    outcome === 'refused'
      ? (message ?? reason)
      : strict && warnings.length > 0
        ? warnings.join('; ')
        : undefined;
  return {
    '@name': xml(nameOf(workload)),
    '@classname': xml(workload.document.file),
    '@file': xml(workload.document.file),
    '@line': String(workload.line),
    ...(failure !== undefined && { failure: { '@message': xml(failure), '@type': reason } }),
    ...(isUncalled(verdict) && { skipped: { '@message': reason } }),
    'system-out': xml([`${outcome}: ${profiles.join(', ') || reason}`, ...warnings].join('\n')),
  };
}

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

/** Text that XML 1.0 can hold at all (its production `Char`). */
const xml = (text: string): string =>
  text.replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\u{fffd}');
