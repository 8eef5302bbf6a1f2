import type { ApiClient } from '../../cluster/client.ts';
import { ClusterError } from '../../cluster/errors.ts';
import { podsPath } from '../../cluster/view/sources.ts';
import type { Pod } from '../../core/facts/pod.ts';
import { combinedOf, type Policy } from '../../core/profiles/policy.ts';
import { planFor } from '../../core/proof/plan.ts';
import { applying, isExemptNamespace } from '../../core/proof/selection.ts';
import { CniGateError } from '../../lib/errors.ts';
import { podInfoVolume } from '../../lib/names.ts';
import type { OptIn } from './pods.ts';

/** How the API server answered the creation of a pod as a dry run. */
export interface ProbeAnswer {
  namespace: string;
  /** Names of the checks that the configuration requires of the pod, unless other webhooks change the pod. */
  required: readonly string[];
  /** Whether the pod is one that the mutating policy leaves to the server. */
  needsServer: boolean;
  /** The pod as the API server would have created it, or the error with which it refused. */
  answer: Pod | ClusterError;
}

/** A probe tries at most this many namespaces. */
const mostNamespaces = 10;

/**
 * Asks the API server to create a pod in each namespace that opted in, as a dry run: the pod passes through all of
 * admission, and nothing is stored. If the API server does not answer, no other namespace is tried.
 *
 * @param asksServer whether to create a second pod, which needs the server; a policy may inject the first one
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
): Promise<ProbeAnswer[]> {
  const candidates = namespaces.flatMap(({ name, profile, labels = {} }) => {
    if (profile === undefined || isExemptNamespace(name, ownNamespace)) return [];
    const combined = combinedOf(policy, profile);
    // admission rejects every pod with this label, which the check `namespaces` reports
    if (combined instanceof CniGateError) return [];
    const pod = podFor(name, policy.proof.image);
    const plan = planFor({ pod, namespace: { labels } }, applying(combined, pod, labels), policy.proof);
    return [{ name, pod, required: plan.checkNames }];
  });
  const query = { dryRun: 'All', timeout: `${Math.ceil(timeout / 1000)}s` };
  const answers: ProbeAnswer[] = [];
  for (const { name, pod, required } of candidates.slice(0, mostNamespaces)) {
    for (const needsServer of asksServer ? [false, true] : [false]) {
      const body = needsServer ? withTakenName(pod) : pod;
      const answer = await client
        .request<Pod>('POST', podsPath(name), { query, body, timeout })
        .catch((error: unknown) => {
          if (error instanceof ClusterError) return error;
          throw error;
        });
      answers.push({ namespace: name, required, needsServer, answer });
      if (isSilence(answer)) return answers;
      if (answer instanceof ClusterError) break;
    }
  }
  return answers;
}

/** Whether the API server did not answer in time. */
export const isSilence = (answer: Pod | ClusterError): boolean =>
  answer instanceof ClusterError && (answer.status === undefined || answer.reason === 'Timeout');

/** A pod that the mutating policy leaves to the server (`name-taken` in left.ts). The server refuses it. */
const withTakenName = <P extends { spec: object }>(pod: P) => ({
  ...pod,
  spec: { ...pod.spec, volumes: [{ name: podInfoVolume, emptyDir: {} }] },
});

/** A plain pod that meets Pod Security `restricted`, and sets requests and limits, because quotas may require them. */
function podFor(namespace: string, image: string) {
  // of the QoS class Burstable, like most pods, because our init container's resources depend on the class
  const resources = { requests: { cpu: '10m', memory: '32Mi' }, limits: { cpu: '20m', memory: '64Mi' } };
  const container = {
    name: 'probe',
    image,
    resources,
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  };
  const spec = {
    restartPolicy: 'Never',
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [container],
  };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { generateName: 'cni-gate-probe-', namespace }, spec };
}
