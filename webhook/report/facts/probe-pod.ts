import { canProve } from '../../admission/mutate/inject.ts';
import { requirementsFor } from '../../admission/mutate/proof-requirements.ts';
import { readStatus } from '../../admission/mutate/status-annotation.ts';
import type { Pod } from '../../admission/pod.ts';
import type { Join, Policy } from '../../config/policy.ts';
import type { Condition, Matcher } from '../../config/types.ts';
import {
  installedPolicies,
  installedWebhooks,
  statusAnnotation,
  validatorContainer,
} from '../../lib/names.ts';
import type { ProbeFacts, RefusedBy } from './probe-model.ts';

/** A pod to ask about, and the words of the checks that the configuration promises to it. */
export interface ProbePod {
  pod: Pod & { apiVersion: 'v1'; kind: 'Pod' };
  promised: readonly string[];
}

/**
 * A pod to which the profiles of a join promise something: a plain one where that will do, otherwise one with the
 * containers, labels and annotations of a profile's `when`. Where none of these is promised anything, the plain one.
 * It holds to Pod Security `restricted`, and names requests and limits, as quotas may ask for them.
 */
export function probePod(namespace: string, join: Join, { proof }: Policy): ProbePod {
  const conditions = join.profiles.flatMap(({ when }) => when);
  const candidates = [{}, ...conditions].map((condition) => podFor(namespace, condition, proof.image));
  const promised = candidates.flatMap((pod) => {
    const requirements = requirementsFor(pod, join, { labels: {} });
    const isProved = requirements !== undefined && canProve(requirements, proof);
    return isProved && requirements.words.length > 0 ? [{ pod, promised: requirements.words }] : [];
  });
  return promised[0] ?? { pod: podFor(namespace, {}, proof.image), promised: [] };
}

function podFor(namespace: string, condition: Condition, image: string): ProbePod['pod'] {
  const names = [...new Set(['probe', ...(condition.container === undefined ? [] : [condition.container])])];
  const amounts = { cpu: '10m', memory: '32Mi' };
  const containers = names.map((name) => ({
    name,
    image,
    resources: { requests: amounts, limits: amounts },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  }));
  const metadata = {
    generateName: 'cni-gate-probe-',
    namespace,
    labels: valuesFor(condition.labels),
    annotations: valuesFor(condition.annotations),
  };
  const spec = {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers,
  };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec };
}

/** Values that satisfy matchers; a key that must not be there, or not have some value, is left out. */
function valuesFor(matchers: Record<string, Matcher> | undefined): Record<string, string> {
  const values = Object.entries(matchers ?? {}).flatMap(([key, matcher]): [string, string][] => {
    if (typeof matcher === 'string') return [[key, matcher]];
    if ('in' in matcher) return matcher.in.slice(0, 1).map((value) => [key, value]);
    return 'exists' in matcher && matcher.exists ? [[key, 'cni-gate-probe']] : [];
  });
  return Object.fromEntries(values);
}

type Outcome = Pick<ProbeFacts, 'outcome' | 'what' | 'reason'>;

/**
 * What follows from the pod that the API server would have created.
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
    return { outcome: 'failed', what, reason: 'not-called' };
  }
  if (promised.length === 0) {
    return {
      outcome: 'no-profile-applies',
      what: 'cni-gate answered; the profile promises nothing to a made-up pod',
    };
  }
  const instead = first === undefined ? 'has no init container' : `has ${first} as its first init container`;
  const what = `the pod was to come back with ${validatorContainer} (${promised.join(', ')}) and ${instead}`;
  return { outcome: 'failed', what, reason: 'changed' };
}

/** Webhooks and policies of an installation that look at new pods. */
const ours: ReadonlySet<string> = new Set([
  ...installedWebhooks.mutating,
  ...installedWebhooks.validating,
  installedPolicies[0],
]);

/**
 * What it means that the API server did not make the pod.
 *
 * @param message of the API server
 * @param refused what refused the pod
 */
export function judgeRefusal(message: string, { kind, name }: RefusedBy): Outcome {
  const byUs = kind === 'silence' || ours.has(name);
  return {
    outcome: byUs ? 'failed' : 'not-made',
    what: message,
    reason: byUs || name === '' ? kind : 'other',
  };
}
