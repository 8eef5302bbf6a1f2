import type { Pod } from '../../admission/pod.ts';
import { readStatus } from '../../inject/status-annotation.ts';
import {
  installedPolicies,
  installedWebhooks,
  statusAnnotation,
  validatorContainer,
} from '../../lib/names.ts';
import type { ProbeFacts } from './facts.ts';

type Outcome = Pick<ProbeFacts, 'outcome' | 'what'>;

/**
 * What a pod tells that the API server would have made.
 *
 * @param promised the words of the checks that the configuration promises to the pod
 */
export function judgeAnswer(pod: Pod, promised: readonly string[]): Outcome {
  const status = readStatus(pod);
  const first = pod.spec.initContainers?.[0]?.name;
  if (first === validatorContainer && status !== undefined) {
    const checks = Array.isArray(status.checks) ? status.checks.join(', ') : '';
    return { outcome: 'injected', what: `the pod comes back with ${validatorContainer} (${checks})` };
  }
  if (status === undefined) {
    const what = `the pod comes back without ${statusAnnotation}: the API server did not ask cni-gate, or had no answer and went on`;
    return { outcome: 'failed', what };
  }
  if (promised.length === 0) {
    return {
      outcome: 'nothing-promised',
      what: 'cni-gate answered; the profile promises nothing to a made-up pod',
    };
  }
  const instead = first === undefined ? 'has no init container' : `has ${first} as its first init container`;
  const what = `the pod was to come back with ${validatorContainer} (${promised.join(', ')}) and ${instead}`;
  return { outcome: 'failed', what };
}

/** By these the API server names us in a refusal. */
const ours = [
  ...installedWebhooks.mutating.map((name) => `webhook "${name}"`),
  ...installedWebhooks.validating.map((name) => `webhook "${name}"`),
  `ValidatingAdmissionPolicy '${installedPolicies[0]}'`,
];

/**
 * What it means that the API server did not make the pod.
 *
 * @param status of its HTTP answer; undefined where there was none in time
 */
export function judgeRefusal(message: string, status: number | undefined): Outcome {
  const byUs = status === undefined || ours.some((name) => message.includes(name));
  return { outcome: byUs ? 'failed' : 'not-made', what: message };
}
