import type { Facts } from '../facts/collect.ts';
import type { Observation } from '../facts/observation.ts';
import type { PodFacts } from '../facts/pods.ts';
import { counted, type Finding, judged, passed, recreateText, warning } from './finding.ts';

/**
 * Whether the pods of the namespaces that opted in prove as the configuration asks. A pod keeps the mode in which it was
 * created.
 *
 * @returns undefined where the configuration enforces nothing, or is not known
 */
export function checkProofMode(
  { policy, trouble }: Facts['configuration'],
  pods: Observation<Pick<PodFacts, 'namespace' | 'warns'>[]>,
): Finding | undefined {
  if (trouble !== undefined || policy.proof.mode === 'warn') return undefined;
  return judged(pods, (found = []) => {
    const inWarnMode = found.filter(({ warns }) => warns);
    if (inWarnMode.length === 0) return passed('no pod is in warn mode');
    return warning(
      `${counted(inWarnMode.length, 'pod')} in warn mode, created while proof.mode was warn: their containers start whatever the proof finds`,
      recreateText(inWarnMode),
    );
  });
}
