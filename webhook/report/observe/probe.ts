import type { ApiClient } from '../../cluster/client.ts';
import { ClusterError } from '../../cluster/errors.ts';
import { podsPath } from '../../cluster/view/sources.ts';
import type { Pod } from '../../core/facts/pod.ts';
import { readStatus } from '../../core/facts/status-annotation.ts';
import { combinedOf, type Policy } from '../../core/profiles/policy.ts';
import type { Condition, Matcher, Profile } from '../../core/profiles/types.ts';
import { planFor } from '../../core/proof/plan.ts';
import { applying } from '../../core/proof/selection.ts';
import { CniGateError } from '../../lib/errors.ts';
import {
  docsUrl,
  installedPolicies,
  installedWebhooks,
  podInfoVolume,
  statusAnnotation,
  validatorContainer,
} from '../../lib/names.ts';
import type { OptIn } from './pods.ts';

/** How the API server answered the dry-run creation of a probe pod. */
export interface ProbeFacts {
  /** The namespace of the probe pod; null if there was no namespace to try. */
  namespace: string | null;
  /**
   * - `injected`: the pod came back with our init container as its first;
   * - `no-profile-applies`: cni-gate answered, and its configuration requires no proof of the probe pod;
   * - `failed`: cni-gate did not answer or was not called, or its webhook or its policy refused the pod;
   * - `not-made`: there was no namespace to try, or something other than cni-gate refused the pod.
   */
  outcome: 'injected' | 'no-profile-applies' | 'failed' | 'not-made';
  /** The outcome in words: the API server's own message if it refused the pod. */
  what: string;
  /** Why the probe does not show that new pods are admitted; absent if it does, or if no profile applies. */
  reason?: keyof typeof probeHints;
}

/** What to do for each reason why the probe does not show that new pods are admitted. */
export const probeHints = {
  /** A webhook or policy of cni-gate refused the pod, or could not be called. */
  refused: `See ${docsUrl}guides/break-glass.md#what-the-refusals-say`,
  /** The API server did not answer. */
  silence:
    'Look at the load of the API server, and at other webhooks for pods: kubectl get mutatingwebhookconfigurations,validatingwebhookconfigurations',
  changed: 'Look for a webhook that is called after cni-gate and changes its container',
  server:
    'Look at the replicas, the Service, its certificate, and at network policies: the API server calls the webhooks there',
  'not-called':
    'Look at the namespaceSelector of the webhook for pods and, with the overlay permissive, at the logs of the replicas',
  other:
    'Another policy, webhook or quota of the cluster refused the pod: allow pods named cni-gate-probe-* there, label another namespace, or run it without the probe',
  rights: '',
  'no-namespace': '',
};

type Outcome = Omit<ProbeFacts, 'namespace'>;

/** A probe tries at most this many namespaces. */
const mostNamespaces = 10;

/**
 * Asks the API server to create a pod in a namespace that opted in, as a dry run: the pod passes through all of
 * admission, and nothing is stored. If another policy or a quota refuses the pod, the next namespace is tried.
 *
 * @param asksServer whether to create a second pod, because a mutating policy may have injected into the first
 * @param timeout milliseconds; the API server may call our webhook for pods twice, for up to 10 s each, and then waits
 *   up to 3 s for the validating webhooks
 * @throws CniGateError where the cluster cannot be reached with these credentials
 */
export async function makeProbe(
  client: ApiClient,
  namespaces: readonly OptIn[],
  policy: Policy,
  ownNamespace: string,
  asksServer = false,
  timeout = 30_000,
): Promise<ProbeFacts> {
  // the namespaces that `namespaceSelector` in the manifests excludes
  const excluded = new Set(['kube-system', ownNamespace]);
  const candidates = namespaces.flatMap(({ name, profile }) => {
    if (profile === undefined || excluded.has(name)) return [];
    const combined = combinedOf(policy, profile);
    // admission rejects every pod with this label, which the check `namespace-labels` reports
    return combined instanceof CniGateError ? [] : [{ name, combined }];
  });
  const what = 'no namespace has opted in with a profile that exists';
  let last: ProbeFacts = { namespace: null, outcome: 'not-made', what, reason: 'no-namespace' };
  for (const { name, combined } of candidates.slice(0, mostNamespaces)) {
    const { pod, requiredChecks } = probePod(name, combined, policy);
    const query = { dryRun: 'All', timeout: `${Math.ceil(timeout / 1000)}s` };
    const create = (body: object): Promise<Pod> =>
      client.request<Pod>('POST', podsPath(name), { query, body, timeout });
    let outcome = await create(pod).then((made) => judgeAnswer(made, requiredChecks), judgeRefusal);
    if (outcome.outcome === 'injected' && asksServer)
      outcome = await create(withTakenName(pod)).then(judgeServer, judgeServerRefusal);
    last = { namespace: name, ...outcome };
    if (last.outcome !== 'not-made') break;
  }
  return last;
}

/** A pod that the mutating policy leaves to the server, which refuses it: the reason `name-taken` of policies/left.ts. */
const withTakenName = <P extends { spec: object }>(pod: P) => ({
  ...pod,
  spec: { ...pod.spec, volumes: [{ name: podInfoVolume, emptyDir: {} }] },
});

const answered: Outcome = {
  outcome: 'injected',
  what: `the pod comes back with ${validatorContainer}, and the server answers for a pod that the mutating policy leaves to it`,
};

/** The outcome for a pod that needs the server, and was not refused. */
function judgeServer(pod: Pod): Outcome {
  const status = readStatus(pod);
  if (status !== undefined && status.left === undefined) return answered;
  const what = 'the mutating policy injects, but a pod that needs the server comes back without its answer';
  return { outcome: 'failed', what, reason: 'server' };
}

/** The outcome for a pod that needs the server, and was refused: only a refusal by the webhook is its answer. */
function judgeServerRefusal(error: unknown): Outcome {
  const refusal = judgeRefusal(error);
  const [by] = installedWebhooks.mutating;
  if (refusal.what.includes(`admission webhook "${by}" denied the request`)) return answered;
  if (refusal.reason !== 'refused') return refusal;
  const what = `the mutating policy injects, but the server does not answer for a pod that needs it: ${refusal.what}`;
  return { outcome: 'failed', what, reason: 'server' };
}

/**
 * The outcome, from the pod that the API server would have created.
 *
 * @param requiredChecks the names of the checks that the configuration requires of the pod
 */
function judgeAnswer(pod: Pod, requiredChecks: readonly string[]): Outcome {
  const status = readStatus(pod);
  const first = pod.spec.initContainers?.[0]?.name;
  if (status === undefined) {
    const what = `the pod comes back without ${statusAnnotation}: the API server did not ask cni-gate, or got no answer and continued`;
    return { outcome: 'failed', what, reason: 'not-called' };
  }
  if (first === validatorContainer) {
    const checks = Array.isArray(status.checks) ? status.checks.join(', ') : '';
    return { outcome: 'injected', what: `the pod comes back with ${validatorContainer} (${checks})` };
  }
  if (requiredChecks.length === 0)
    return {
      outcome: 'no-profile-applies',
      what: 'cni-gate answered; no profile applies to the pod of the probe',
    };
  const what = `the pod should come back with ${validatorContainer} (${requiredChecks.join(', ')}), but its first init container is ${first ?? 'missing'}`;
  return { outcome: 'failed', what, reason: 'changed' };
}

/** The webhooks and policies of an installation that review new pods. */
const ours: ReadonlySet<string> = new Set([
  ...installedWebhooks.mutating,
  ...installedWebhooks.validating,
  installedPolicies[0],
]);

/**
 * Finds, in a message of the API server, the webhook or policy that refused a request or could not be called. Source:
 * k8s.io/apiserver, pkg/admission/plugin/webhook/errors/statuserror.go, pkg/util/webhook/error.go, and
 * pkg/admission/plugin/policy/validating/dispatcher.go and mutating/dispatcher.go.
 */
const refuser = /^(?:admission webhook|failed calling webhook|ValidatingAdmissionPolicy|policy) ["']([^"']+)/;

/** The outcome of a refusal or an error: a failure only if cni-gate refused the pod, or nothing answered. */
function judgeRefusal(error: unknown): Outcome {
  if (!(error instanceof ClusterError)) throw error;
  const { status, missingRight, statusMessage, causes, message: what } = error;
  if (status === undefined || error.reason === 'Timeout')
    return { outcome: 'failed', what, reason: 'silence' };
  // the API server writes the message, and a webhook may write the causes, so the message is searched first
  const [by] = [statusMessage, ...causes].flatMap((text) => refuser.exec(text)?.[1] ?? []);
  if (by !== undefined && ours.has(by)) return { outcome: 'failed', what, reason: 'refused' };
  const reason = by === undefined && missingRight !== undefined ? 'rights' : 'other';
  return { outcome: 'not-made', what, reason };
}

/**
 * A pod to which one of the combined profiles applies, and the checks that the configuration requires of it. The pod is
 * plain if possible; otherwise it has what a profile's `when` requires. If no profile applies to any of these pods, the
 * result is the plain pod.
 */
export function probePod(namespace: string, combined: readonly Profile[], { proof }: Policy) {
  const conditions = combined.flatMap(({ when }) => when);
  const candidates = [{}, ...conditions].map((condition) => {
    const pod = podFor(namespace, condition, proof.image);
    const profiles = applying(combined, pod, {});
    const { checkNames } = planFor({ pod, namespace }, profiles, { labels: {} }, proof);
    return { pod, requiredChecks: checkNames };
  });
  const fitting = candidates.find(({ requiredChecks }) => requiredChecks.length > 0);
  return fitting ?? { pod: podFor(namespace, {}, proof.image), requiredChecks: [] };
}

/** A pod that meets Pod Security `restricted`, and sets requests and limits, because quotas may require them. */
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

/** Values that satisfy the matchers. A key without a matching value stays absent. */
function valuesFor(matchers: Record<string, Matcher> = {}): Record<string, string> {
  const values = Object.entries(matchers).flatMap(([key, matcher]): [string, string][] => {
    if (typeof matcher === 'string') return [[key, matcher]];
    if ('in' in matcher) return matcher.in.slice(0, 1).map((value) => [key, value]);
    return 'exists' in matcher && matcher.exists ? [[key, 'cni-gate-probe']] : [];
  });
  return Object.fromEntries(values);
}
