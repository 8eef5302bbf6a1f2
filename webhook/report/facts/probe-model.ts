/**
 * The answer of the API server about an invented pod:
 * - `injected`: the pod came back with our init container in the first place;
 * - `no-profile-applies`: cni-gate answered, and its configuration promises nothing to such a pod;
 * - `failed`: cni-gate did not answer, was not asked, or the pod was refused by it or by its policy;
 * - `not-made`: no namespace could be tried, or something else refused the pod.
 */
export interface ProbeFacts {
  /** Where the pod was to be created; null where no namespace could be asked about. */
  namespace: string | null;
  outcome: 'injected' | 'no-profile-applies' | 'failed' | 'not-made';
  /** What was seen, in words: the API server's own where it refused. */
  what: string;
  /** Why it is no proof that new pods are admitted; absent where it is. */
  reason?: ProbeReason;
}

/**
 * Why a probe shows no pod with its proof: what refused it, or
 * - `not-called`: the pod came back without anything of cni-gate;
 * - `changed`: another webhook changed the pod, or the replicas have another configuration;
 * - `no-namespace`: no namespace to try it in.
 */
export type ProbeReason = RefusedBy['kind'] | 'not-called' | 'changed' | 'no-namespace';

/**
 * What refused to create an object:
 * - `rights`: RBAC;
 * - `policy`: a ValidatingAdmissionPolicy denied it;
 * - `policy-configuration`: a ValidatingAdmissionPolicy cannot be evaluated, for example without its parameters;
 * - `webhook`: a webhook denied it;
 * - `webhook-call`: the API server got no usable answer of a webhook;
 * - `webhook-trust`: the API server does not accept the certificate of a webhook's server;
 * - `silence`: the API server did not answer in time;
 * - `other`: another admission plugin, for example a quota.
 */
export interface RefusedBy {
  kind:
    | 'rights'
    | 'policy'
    | 'policy-configuration'
    | 'webhook'
    | 'webhook-call'
    | 'webhook-trust'
    | 'silence'
    | 'other';
  /** Name of the policy or webhook; empty for other kinds. */
  name: string;
}
