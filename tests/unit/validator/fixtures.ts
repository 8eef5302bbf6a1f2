import { type Finding, failed, passed, type Result } from '../../../validator/finding.ts';
import type { Reason } from '../../../validator/reasons.ts';
import { type Report, verdictOf } from '../../../validator/verdict.ts';

/** The result of a check `redirect` with this finding. */
export function redirectResult(finding: Finding): Result {
  return {
    profile: 'linkerd',
    check: 'redirect',
    family: 'IPv4',
    expected: 'a connection to 192.0.2.2:1404 to end at port 4140 by the outbound rule',
    finding,
  };
}

export const good = redirectResult(passed('a connection to 192.0.2.2:1404 end at port 4140 in the pod'));
export const bad = (reason: Reason): Result =>
  redirectResult(failed(reason, 'no answer from 192.0.2.2:1404'));

export function reportOn(results: Result[], more: Partial<Report> = {}): Report {
  return {
    ...verdictOf(results),
    warn: false,
    sandbox: { netns: '4026532008', bootId: '2b69365d-97f3-4560-a536-6b914ac46258' },
    seconds: 10.0204,
    results,
    ...more,
  };
}
