import { attemptCaptured } from './checks/captured.ts';
import { attemptAddress, attemptGateway } from './checks/gateway.ts';
import { attemptInterfaces } from './checks/interfaces.ts';
import { attemptPolicy } from './checks/policy.ts';
import { attemptReach } from './checks/reach.ts';
import { attemptRedirect } from './checks/redirect.ts';
import { attemptRoundTrip } from './checks/round-trip.ts';
import { awaitKubelet, type Witness } from './checks/witness.ts';
import type { Finding, Result } from './finding.ts';
import { now } from './host/loop.ts';
import { expectedOf, type Step } from './plan.ts';
import type { Pod } from './pod.ts';
import type { WitnessCheck } from './shared/contract.ts';
import { type Attempt, untilAllPass } from './simultaneous.ts';

/** How many milliseconds to wait for the kubelet, which connects every second, before other checks repeat. */
const look = 2000;

/** How long, in milliseconds, to wait for the mesh's rule after a kubelet connection that was not redirected. */
const lateRule = 5000;

/**
 * Runs all steps in parallel: see {@link untilAllPass}. The kubelet can connect only after all other steps
 * have passed, because its connection starts the next container. Until it connects, the others are repeated.
 * @param report called when a step ends, and again if a repeat of it fails or has another note
 */
export async function prove(
  steps: Step[],
  pod: Pod,
  report: (step: Step, result: Result) => void,
): Promise<Map<Step, Result>> {
  const witnessed = steps.filter((step) => witnessOf(step) !== undefined);
  const others = steps.filter((step) => !witnessed.includes(step));
  let results = await proveTogether(others, pod, report);
  const settings = witnessIn(witnessed);
  if (settings === undefined) return results;
  let end = now() + Math.max(...witnessed.map(({ timeout }) => timeout));
  let bypassed: ((check: WitnessCheck) => Finding) | undefined;
  while (allPass(results)) {
    const findingOf = await awaitKubelet(settings, pod, look);
    const finding = findingOf(settings);
    if (!finding.passed && finding.reason === 'inbound-not-redirected') {
      bypassed = findingOf;
      end = Math.min(end, now() + lateRule);
    }
    if (finding.passed || now() >= end) {
      const last = finding.passed ? findingOf : (bypassed ?? findingOf);
      for (const step of witnessed) {
        const result = resultOf(step, pod, last(witnessOf(step) ?? settings));
        results.set(step, result);
        report(step, result);
      }
      break;
    }
    results = await proveTogether(others, pod, (step, result) => {
      if (!result.finding.passed) report(step, result);
    });
  }
  return results;
}

const witnessOf = ({ check, settled }: Step): WitnessCheck | undefined =>
  'witness' in check && settled === undefined ? check.witness : undefined;

/** The settings of the check `witness` that apply to all profiles: preferably those with a mesh's port (`inbound`). */
export function witnessIn(steps: Step[]): Witness | undefined {
  const all = steps.flatMap((step) => {
    const check = witnessOf(step);
    return check && step.family ? [{ ...check, family: step.family }] : [];
  });
  return all.find(({ inbound }) => inbound !== undefined) ?? all[0];
}

const allPass = (results: Map<Step, Result>): boolean =>
  [...results.values()].every(({ finding }) => finding.passed);

async function proveTogether(
  steps: Step[],
  pod: Pod,
  report: (step: Step, result: Result) => void,
): Promise<Map<Step, Result>> {
  const checks = steps.map((step) => ({ step, attempt: attemptAt(step, pod), timeout: step.timeout }));
  const ended = await untilAllPass(checks, ({ step }, finding) => report(step, resultOf(step, pod, finding)));
  return new Map(ended.map(({ check: { step }, finding }) => [step, resultOf(step, pod, finding)]));
}

/** The attempt of a step, for all checks except `witness`. */
export function attemptAt(step: Step, pod: Pod): Attempt {
  const { check, settled, family, isLater } = step;
  if (settled) return async () => ({ ...settled, final: true });
  if ('interfaces' in check) return attemptInterfaces(check.interfaces, pod);
  if ('reach' in check) return attemptReach(check.reach);
  if ('policy' in check) return attemptPolicy(check.policy, pod);
  if (family === undefined) throw new Error(`${step.name} without an address family`);
  if ('redirect' in check) return attemptRedirect(check.redirect, family, pod, isLater);
  if ('captured' in check) return attemptCaptured(check.captured, family, pod, isLater);
  if ('address' in check) return attemptAddress(family, pod);
  if ('gateway' in check) return attemptGateway(check.gateway, family, pod);
  if ('roundTrip' in check) return attemptRoundTrip(check.roundTrip, family, pod);
  if ('witness' in check) throw new Error('the kubelet is awaited after the other checks');
  throw new Error(`an unknown check: ${check satisfies never}`);
}

export function resultOf(step: Step, pod: Pod, finding: Finding): Result {
  const { profile, name, family, note } = step;
  return {
    profile,
    check: name,
    ...(family !== undefined && { family }),
    expected: expectedOf(step, pod),
    finding: finding.passed && note !== undefined ? { ...finding, note } : finding,
  };
}
