import { attemptAddress } from './checks/address.ts';
import { attemptCaptured } from './checks/captured.ts';
import { attemptGateway } from './checks/gateway.ts';
import { attemptInterfaces } from './checks/interfaces.ts';
import { attemptReach } from './checks/reach.ts';
import { attemptRedirect } from './checks/redirect.ts';
import { attemptRoundTrip } from './checks/round-trip.ts';
import { expectedOf } from './expected.ts';
import type { Finding, Result } from './finding.ts';
import type { Step } from './plan.ts';
import type { Pod } from './pod.ts';
import { untilAllPass } from './simultaneous.ts';
import type { Attempt } from './waiting.ts';

/**
 * Runs all steps in parallel, each until it passes or its own time is over, and repeats those that passed early: see
 * {@link untilAllPass}.
 *
 * @param report called when a step ends; without a result when one that passed fails its repeat and is retried
 */
export async function prove(
  steps: Step[],
  pod: Pod,
  report: (step: Step, result: Result | undefined) => void,
): Promise<Map<Step, Result>> {
  const checks = steps.map((step) => ({ step, attempt: attemptAt(step, pod), timeout: step.timeout }));
  const ended = await untilAllPass(checks, ({ step }, finding) =>
    report(step, finding && resultOf(step, pod, finding)),
  );
  return new Map(ended.map(({ check: { step }, finding }) => [step, resultOf(step, pod, finding)]));
}

function attemptAt(step: Step, pod: Pod): Attempt {
  const { check, settled, family } = step;
  if (settled) return async () => ({ ...settled, final: true });
  if ('interfaces' in check) return attemptInterfaces(pod);
  if ('reach' in check) return attemptReach(check.reach);
  if (family === undefined) throw new Error(`${step.word} without an address family`);
  if ('redirect' in check) return attemptRedirect(check.redirect, family, pod);
  if ('captured' in check) return attemptCaptured(check.captured, family, pod);
  if ('address' in check) return attemptAddress(family, pod);
  if ('gateway' in check) return attemptGateway(check.gateway, family, pod);
  if ('roundTrip' in check) return attemptRoundTrip(check.roundTrip, family, pod);
  // a new kind of check fails to compile here
  throw new Error(`an unknown check: ${check satisfies never}`);
}

function resultOf(step: Step, pod: Pod, finding: Finding): Result {
  const { profile, word, family, check } = step;
  return {
    profile,
    check: word,
    ...(family !== undefined && { family }),
    ...('redirect' in check && { proves: check.redirect.direction }),
    expected: expectedOf(step, pod),
    finding: withNote(finding, step),
  };
}

/** Adds to a check that passed for one family which others the mesh leaves alone. */
function withNote(finding: Finding, { family, leftAlone = [] }: Step): Finding {
  if (!finding.passed || leftAlone.length === 0) return finding;
  const others = leftAlone.join(' and ');
  const note =
    `${others} was not checked: without its dual-stack option the mesh redirects only ${family} in this pod, and ` +
    `leaves ${others} traffic alone`;
  return { ...finding, note };
}
