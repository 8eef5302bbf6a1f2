import { proveAddress } from './checks/address.ts';
import { proveCaptured } from './checks/captured.ts';
import { proveGateway } from './checks/gateway.ts';
import { proveInterfaces } from './checks/interfaces.ts';
import { proveReach } from './checks/reach.ts';
import { proveRedirect } from './checks/redirect.ts';
import { expectedOf } from './expected.ts';
import { type Finding, failed, held, type Result } from './finding.ts';
import type { Step } from './plan.ts';
import type { Pod } from './pod.ts';
import { leftAloneNote } from './redirect-families.ts';
import { now } from './waiting.ts';

/**
 * Runs all steps side by side, each until it holds or its own time is over.
 *
 * @param tell hears of each at its end
 */
export function prove(
  steps: Step[],
  pod: Pod,
  tell: (result: Result, step: Step) => void,
): Promise<Result[]> {
  const start = now();
  return Promise.all(
    steps.map(async (step) => {
      const finding = await look(step, pod, start + step.timeout).catch(defect);
      const result = resultOf(step, pod, finding);
      tell(result, step);
      return result;
    }),
  );
}

async function look(step: Step, pod: Pod, end: number): Promise<Finding> {
  const { check, settled } = step;
  if (settled) return settled;
  if ('interfaces' in check) return proveInterfaces(pod, end);
  if ('reach' in check) return proveReach(check.reach, end);
  const { family } = step;
  if (family === undefined) throw new Error(`${step.word} without an address family`);
  if ('redirect' in check) return proveRedirect(check.redirect, family, pod, end);
  if ('captured' in check) return proveCaptured(check.captured, family, pod, end);
  if ('address' in check) return proveAddress(family, pod, end);
  return proveGateway(family, pod, end);
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

/** A check that passed for one family says which other ones the mesh leaves alone. */
function withNote(finding: Finding, { family, leftAlone = [] }: Step): Finding {
  const note = family === undefined ? undefined : leftAloneNote(family, leftAlone);
  return finding.held && note !== undefined ? held(finding.seen, note) : finding;
}

const defect = (error: unknown): Finding => failed('unexpected', String(error));
