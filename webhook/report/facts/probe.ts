import type { Pod } from '../../admission/pod.ts';
import type { ApiClient } from '../../cluster/client.ts';
import { ClusterError } from '../../cluster/errors.ts';
import { podsPath } from '../../cluster/view/sources.ts';
import type { Join, Policy } from '../../config/policy.ts';
import { CniGateError } from '../../lib/errors.ts';
import type { OptIn } from './model.ts';
import type { ProbeFacts, RefusedBy } from './probe-model.ts';
import { judgeAnswer, judgeRefusal, probePod } from './probe-pod.ts';

/** Namespaces that are asked about at most, where the first ones cannot be. */
const mostNamespaces = 10;

/** Milliseconds. */
interface ProbeTimes {
  /** For one pod. */
  onePod: number;
  /** For all of them. */
  allPods: number;
}

/**
 * The API server gives our webhook for pods 10 s, may call it twice, and then gives the validating ones 3 s.
 */
const usual: ProbeTimes = { onePod: 30_000, allPods: 60_000 };

/** Namespaces whose pods the API server never asks us about: `namespaceSelector` of the manifests. */
const notAsked = (ownNamespace: string): Set<string> => new Set(['kube-system', ownNamespace]);

/**
 * Asks the API server to make a pod in a namespace that opted in, as a dry run: it goes the whole way through
 * admission, and nothing is stored. Where something else refuses the pod, such as a quota, the next namespace is asked.
 *
 * @param namespaces those to choose from
 * @throws CniGateError where the way to the cluster cannot be used
 */
export async function makeProbe(
  client: ApiClient,
  { namespaces, policy, ownNamespace }: { namespaces: Iterable<OptIn>; policy: Policy; ownNamespace: string },
  times = usual,
): Promise<ProbeFacts> {
  const excluded = notAsked(ownNamespace);
  const candidates = [...namespaces].flatMap(({ name, profile }) => {
    const join = profile === undefined || excluded.has(name) ? undefined : joinOf(policy, profile);
    return join === undefined ? [] : [{ name, join }];
  });
  const deadline = AbortSignal.timeout(times.allPods);
  let last: ProbeFacts | undefined;
  for (const { name, join } of candidates.slice(0, mostNamespaces)) {
    last = { namespace: name, ...(await probeIn(client, name, join, policy, { ...times, deadline })) };
    if (last.outcome !== 'not-made' || deadline.aborted) return last;
  }
  const what = 'no namespace has opted in with a profile that exists';
  return last ?? { namespace: null, outcome: 'not-made', what, reason: 'no-namespace' };
}

async function probeIn(
  client: ApiClient,
  namespace: string,
  join: Join,
  policy: Policy,
  { onePod, allPods, deadline }: ProbeTimes & { deadline: AbortSignal },
): Promise<Omit<ProbeFacts, 'namespace'>> {
  const { pod, promised } = probePod(namespace, join, policy);
  const options = {
    query: { dryRun: 'All', timeout: `${Math.ceil(onePod / 1000)}s` },
    body: pod,
    timeout: onePod,
    signal: deadline,
  };
  try {
    return judgeAnswer(await client.request<Pod>('POST', podsPath(namespace), options), promised);
  } catch (error) {
    if (deadline.aborted)
      return judgeRefusal(`no answer of the API server within ${allPods / 1000} s`, {
        kind: 'silence',
        name: '',
      });
    if (error instanceof ClusterError) return judgeRefusal(error.message, refusedBy(error));
    throw error;
  }
}

/** Undefined where a label names no profile: such a pod is rejected, which status reports anyway. */
function joinOf(policy: Policy, profile: string): Join | undefined {
  try {
    return policy.join(profile);
  } catch (error) {
    if (error instanceof CniGateError) return undefined;
    throw error;
  }
}

/** The message of a Status. Source: k8s.io/apiserver, pkg/admission/plugin/webhook/errors/statuserror.go. */
const deniedByWebhook = /^admission webhook "([^"]+)" denied the request/;

/** The cause of a Status with reason InternalError. Source: k8s.io/apiserver, pkg/util/webhook/error.go. */
const callFailed = /^failed calling webhook "([^"]+)"/;

/** How the errors of Go's crypto/x509 begin, in an error of crypto/tls. */
const untrusted = / x509: /;

/** The cause of a Status. Source: k8s.io/apiserver, pkg/admission/plugin/policy/validating/dispatcher.go. */
const deniedByPolicy =
  /^ValidatingAdmissionPolicy '([^']+)' (?:with binding '[^']+' )?denied request: (failed to configure )?/;

/** What refused a request, by the reason and the causes of the API server's Status, and the beginning of its message. */
function refusedBy({ status, reason, missingRight, statusMessage, causes }: ClusterError): RefusedBy {
  if (status === undefined || reason === 'Timeout') return { kind: 'silence', name: '' };
  // before the causes, which a webhook may write
  const [, webhook] = deniedByWebhook.exec(statusMessage) ?? [];
  if (webhook !== undefined) return { kind: 'webhook', name: webhook };
  if (missingRight !== undefined) return { kind: 'rights', name: '' };
  for (const cause of causes) {
    const [, called] = (reason === 'InternalError' && callFailed.exec(cause)) || [];
    if (called !== undefined)
      return { kind: untrusted.test(cause) ? 'webhook-trust' : 'webhook-call', name: called };
    const [, policy, configuration] = deniedByPolicy.exec(cause) ?? [];
    if (policy !== undefined)
      return { kind: configuration === undefined ? 'policy' : 'policy-configuration', name: policy };
  }
  return { kind: 'other', name: '' };
}
