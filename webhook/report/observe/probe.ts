import type { ApiClient } from '../../cluster/client.ts';
import { ClusterError } from '../../cluster/errors.ts';
import { podsPath } from '../../cluster/view/sources.ts';
import type { Pod } from '../../core/facts/pod.ts';
import { readStatus } from '../../core/facts/status-annotation.ts';
import type { CombinedProfiles, Policy } from '../../core/profiles/policy.ts';
import type { Condition, Matcher } from '../../core/profiles/types.ts';
import { planFor } from '../../core/proof/plan.ts';
import { applying } from '../../core/proof/selection.ts';
import { CniGateError } from '../../lib/errors.ts';
import {
  docsUrl,
  installedPolicies,
  installedWebhooks,
  statusAnnotation,
  validatorContainer,
} from '../../lib/names.ts';
import { combinedOf } from './configuration.ts';
import type { OptIn } from './pods.ts';

/** The answer of the API server about an invented pod. */
export interface ProbeFacts {
  /** The namespace of the pod; null where none could be tried. */
  namespace: string | null;
  /**
   * - `injected`: the pod came back with our init container in the first place;
   * - `no-profile-applies`: cni-gate answered, and its configuration requires no proof of such a pod;
   * - `failed`: cni-gate did not answer, was not asked, or the pod was refused by it or by its policy;
   * - `not-made`: no namespace could be tried, or something else refused the pod.
   */
  outcome: 'injected' | 'no-profile-applies' | 'failed' | 'not-made';
  /** What was seen: the API server's own text where it refused. */
  what: string;
  /** Why it is no proof that new pods are admitted; absent where it is. */
  reason?: keyof typeof probeHints;
}

/** Why a probe is no proof that new pods are admitted, and what to do about it. */
export const probeHints = {
  /** By a webhook or policy of cni-gate, or one could not be called. */
  refused: `See ${docsUrl}guides/break-glass.md#what-the-refusals-say`,
  /** The API server did not answer. */
  silence:
    'Look at the load of the API server, and at other webhooks for pods: kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations',
  changed: 'Look for a webhook that is called after cni-gate and changes its container',
  'not-called':
    'Look at the namespaceSelector of the webhook for pods and, with the overlay permissive, at the logs of the replicas',
  other:
    'Another policy, webhook or quota of the cluster refused the pod: allow pods named cni-gate-probe-* there, label another namespace, or run it without the probe',
  rights: '',
  'no-namespace': '',
};

type Outcome = Omit<ProbeFacts, 'namespace'>;

/** Namespaces that are asked about at most, where the first ones cannot be. */
const mostNamespaces = 10;

/**
 * Asks the API server to make a pod in a namespace that opted in, as a dry run: it goes the whole way through
 * admission, and nothing is stored. Where something else refuses the pod, such as a quota, the next namespace is asked.
 *
 * @param timeout milliseconds; the API server gives our webhook for pods 10 s, may call it twice, and then gives the
 *   validating ones 3 s
 * @throws CniGateError where the way to the cluster cannot be used
 */
export async function makeProbe(
  client: ApiClient,
  namespaces: readonly OptIn[],
  policy: Policy,
  ownNamespace: string,
  timeout = 30_000,
): Promise<ProbeFacts> {
  // `namespaceSelector` of the manifests
  const excluded = new Set(['kube-system', ownNamespace]);
  const candidates = namespaces.flatMap(({ name, profile }) => {
    if (profile === undefined || excluded.has(name)) return [];
    const combined = combinedOf(policy, profile);
    // such a pod is rejected, which another check reports
    return combined instanceof CniGateError ? [] : [{ name, combined }];
  });
  const what = 'no namespace has opted in with a profile that exists';
  let last: ProbeFacts = { namespace: null, outcome: 'not-made', what, reason: 'no-namespace' };
  for (const { name, combined } of candidates.slice(0, mostNamespaces)) {
    const { pod, requiredChecks } = probePod(name, combined, policy);
    const query = { dryRun: 'All', timeout: `${Math.ceil(timeout / 1000)}s` };
    const outcome = await client
      .request<Pod>('POST', podsPath(name), { query, body: pod, timeout })
      .then((made) => judgeAnswer(made, requiredChecks), judgeRefusal);
    last = { namespace: name, ...outcome };
    if (last.outcome !== 'not-made') break;
  }
  return last;
}

/**
 * What follows from the pod that the API server would have created.
 *
 * @param requiredChecks the names of the checks that the configuration requires of the pod
 */
function judgeAnswer(pod: Pod, requiredChecks: readonly string[]): Outcome {
  const status = readStatus(pod);
  const first = pod.spec.initContainers?.[0]?.name;
  if (status === undefined) {
    const what = `the pod comes back without ${statusAnnotation}: the API server did not ask cni-gate, or had no answer and went on`;
    return { outcome: 'failed', what, reason: 'not-called' };
  }
  if (first === validatorContainer) {
    const checks = Array.isArray(status.checks) ? status.checks.join(', ') : '';
    return { outcome: 'injected', what: `the pod comes back with ${validatorContainer} (${checks})` };
  }
  if (requiredChecks.length === 0)
    return { outcome: 'no-profile-applies', what: 'cni-gate answered; no profile applies to a made-up pod' };
  const what = `the pod was to come back with ${validatorContainer} (${requiredChecks.join(', ')}), and its first init container is ${first ?? 'missing'}`;
  return { outcome: 'failed', what, reason: 'changed' };
}

/** Webhooks and policies of an installation that look at new pods. */
const ours: ReadonlySet<string> = new Set([
  ...installedWebhooks.mutating,
  ...installedWebhooks.validating,
  installedPolicies[0],
]);

/**
 * How the API server names the webhook or policy that refused a request, or that it could not call. Source:
 * k8s.io/apiserver, pkg/admission/plugin/webhook/errors/statuserror.go, pkg/util/webhook/error.go, and
 * pkg/admission/plugin/policy/validating/dispatcher.go.
 */
const refuser = /^(?:admission webhook|failed calling webhook|ValidatingAdmissionPolicy) ["']([^"']+)/;

/** What it means that the API server did not make the pod: a fault where something of cni-gate refused it. */
function judgeRefusal(error: unknown): Outcome {
  if (!(error instanceof ClusterError)) throw error;
  const { status, missingRight, statusMessage, causes, message: what } = error;
  if (status === undefined || error.reason === 'Timeout')
    return { outcome: 'failed', what, reason: 'silence' };
  // the message comes before the causes, which a webhook may write
  const [by] = [statusMessage, ...causes].flatMap((text) => refuser.exec(text)?.[1] ?? []);
  if (by !== undefined && ours.has(by)) return { outcome: 'failed', what, reason: 'refused' };
  const reason = by === undefined && missingRight !== undefined ? 'rights' : 'other';
  return { outcome: 'not-made', what, reason };
}

/**
 * A pod to which one of the combined profiles applies, and the checks that the configuration requires of it: a plain pod
 * if that will do, otherwise one with the containers, labels and annotations of a profile's `when`. If none applies to
 * any of these, the plain one.
 */
export function probePod(namespace: string, combined: CombinedProfiles, { proof }: Policy) {
  const conditions = combined.profiles.flatMap(({ when }) => when);
  const candidates = [{}, ...conditions].map((condition) => {
    const pod = podFor(namespace, condition, proof.image);
    const profiles = applying(combined.profiles, pod, {});
    const { checkNames } = planFor({ pod, namespace }, profiles, { labels: {} }, proof);
    return { pod, requiredChecks: checkNames };
  });
  const fitting = candidates.find(({ requiredChecks }) => requiredChecks.length > 0);
  return fitting ?? { pod: podFor(namespace, {}, proof.image), requiredChecks: [] };
}

/** A pod that holds to Pod Security `restricted`, and names requests and limits, as quotas may ask for them. */
function podFor(namespace: string, condition: Condition, image: string) {
  const amounts = { cpu: '10m', memory: '32Mi' };
  const containers = ['probe', ...(condition.container ? [condition.container] : [])].map((name) => ({
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
function valuesFor(matchers: Record<string, Matcher> = {}): Record<string, string> {
  const values = Object.entries(matchers).flatMap(([key, matcher]): [string, string][] => {
    if (typeof matcher === 'string') return [[key, matcher]];
    if ('in' in matcher) return matcher.in.slice(0, 1).map((value) => [key, value]);
    return 'exists' in matcher && matcher.exists ? [[key, 'cni-gate-probe']] : [];
  });
  return Object.fromEntries(values);
}
