import type { Pod } from '../../core/facts/pod.ts';
import type { CombinedProfiles, Policy } from '../../core/profiles/policy.ts';
import type { Condition, Matcher } from '../../core/profiles/types.ts';
import { planFor } from '../../core/proof/plan.ts';
import { applying } from '../../core/proof/selection.ts';

/** A pod to ask about, and the names of the checks that the configuration requires of it. */
export interface ProbePod {
  pod: Pod & { apiVersion: 'v1'; kind: 'Pod' };
  requiredChecks: readonly string[];
}

/**
 * A pod to which one of the combined profiles applies: a plain one if that will do, otherwise one with the containers,
 * labels and annotations of a profile's `when`. If none applies to any of these, the plain one.
 * It holds to Pod Security `restricted`, and names requests and limits, as quotas may ask for them.
 */
export function probePod(namespace: string, combined: CombinedProfiles, { proof }: Policy): ProbePod {
  const conditions = combined.profiles.flatMap(({ when }) => when);
  const candidates = [{}, ...conditions].map((condition) => podFor(namespace, condition, proof.image));
  const fitting = candidates.flatMap((pod) => {
    const profiles = applying(combined.profiles, pod, {});
    const { checkNames } = planFor({ pod, namespace }, profiles, { labels: {} }, proof);
    return checkNames.length > 0 ? [{ pod, requiredChecks: checkNames }] : [];
  });
  return fitting[0] ?? { pod: podFor(namespace, {}, proof.image), requiredChecks: [] };
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
