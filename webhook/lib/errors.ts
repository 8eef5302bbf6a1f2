import { docsUrl } from './names.ts';

/** All error codes. docs/reference/errors.md repeats the sentences. */
export const errorCodes = {
  CNI_GATE_USAGE: 'A command, flag or combination of flags is invalid.',
  CNI_GATE_CONFIG_UNREADABLE: 'The configuration file is missing or unreadable.',
  CNI_GATE_CONFIG_SYNTAX: 'The configuration file is not valid YAML.',
  CNI_GATE_CONFIG_INVALID: 'The configuration file does not match the schema.',
  CNI_GATE_PROFILE_UNKNOWN: 'A label or flag names a profile that the configuration does not have.',
  CNI_GATE_PROFILE_COMBINATION: 'A label or flag combines profiles that one pod cannot satisfy.',
  CNI_GATE_STATE_INVALID: 'The file of --cluster-state is missing, not valid YAML, or has an invalid object.',
  CNI_GATE_REVIEW_SYNTAX: 'The body of an admission call is not JSON.',
  CNI_GATE_REVIEW_INVALID: 'The body of an admission call is JSON, but not an AdmissionReview for this path.',
  CNI_GATE_REVIEW_NAME: 'An AdmissionReview has a name or UID that Kubernetes does not allow.',
  CNI_GATE_REVIEW_KIND: 'The AdmissionReview is about a kind of object that this path does not serve.',
  CNI_GATE_REVIEW_TOO_LARGE: 'The body of an admission call is too large, or needs too much time or memory.',
  CNI_GATE_REVIEW_MEDIA: 'The body of an admission call is not application/json.',
  CNI_GATE_BUSY: 'The server cannot accept further large admission calls now.',
  CNI_GATE_NOT_FOUND: 'The server has no such path or method.',
  CNI_GATE_NAMESPACE_UNKNOWN: "The server does not know the labels of a pod's namespace.",
  CNI_GATE_DAEMONSET_UNKNOWN: 'A profile in use names a DaemonSet that does not exist.',
  CNI_GATE_NOT_REGISTERED:
    'A webhook configuration, one of its webhooks or its caBundle is missing or differs from the manifests.',
  CNI_GATE_NOT_INSTALLED:
    'The cluster has no webhook configuration, Service, Deployment or policy binding of cni-gate.',
  CNI_GATE_NO_ENDPOINTS:
    'The Service of the webhooks does not exist, or has no ready endpoint with its port.',
  CNI_GATE_RESOURCES: "A LimitRange refuses the init container's resources.",
  CNI_GATE_POLICY: 'A policy of cni-gate is missing, not bound, or differs from the manifests.',
  CNI_GATE_NO_LEADER: 'No replica leads, so refused pods are not steered and failed pods are not recreated.',
  CNI_GATE_KUBERNETES: 'The Kubernetes version of the cluster is too old.',
  CNI_GATE_PROBE: 'The API server did not return the pod of a probe with its proof.',
  CNI_GATE_NOT_OPTED_IN:
    'A namespace that should opt in lacks the label cni-gate.io/profile, or its value is empty or "none".',
  CNI_GATE_DASHBOARD_HOST: 'A request to the dashboard names a host that is not this machine.',
  CNI_GATE_DASHBOARD_TOKEN: 'A request to the dashboard has no token, or the token of an earlier run.',
  CNI_GATE_NODE_NOT_READY: 'A pod was refused on a node whose network is not ready.',
  CNI_GATE_NAME_TAKEN: 'A pod has its own container or volume with a name that cni-gate uses.',
  CNI_GATE_PORTS_SKIPPED: 'An annotation excludes every port from the rule that a check tests.',
  CNI_GATE_PATCH_FAILED: 'The patch that cni-gate made does not apply to the pod, so it was not sent.',
  CNI_GATE_TLS_UNREADABLE: 'A certificate or key file is missing, cannot be read or written, or is not PEM.',
  CNI_GATE_TLS_PAIR: 'The certificate and the key do not match, or the certificate is not valid now.',
  CNI_GATE_TLS_SECRET: 'The Secret of the managed certificates is missing, damaged, or cannot be used.',
  CNI_GATE_TLS_SECRET_FOREIGN: 'The Secret of --tls-secret has data that cni-gate did not write.',
  CNI_GATE_CA_BUNDLE:
    'A webhook configuration is missing, distrusts the serving certificate, or does not call the Service.',
  CNI_GATE_LISTEN: 'A port could not be opened.',
  CNI_GATE_INPUT_UNREADABLE: 'A file, folder or glob for review is missing, unreadable, or has no manifests.',
  CNI_GATE_INPUT_SYNTAX: 'A document for review is not YAML or JSON, or does not match its kind.',
  CNI_GATE_JOB_COUNTS_PROOF: 'A Job counts a failed proof as its own failure.',
  CNI_GATE_KEY_UNKNOWN:
    'A manifest has a label or annotation that resembles one of cni-gate but has no effect.',
  CNI_GATE_KIND_UNKNOWN: 'An object of an unknown kind has containers that review does not check.',
  CNI_GATE_NAMESPACE_NOT_GIVEN: 'The Namespace of a workload is not in the input of review.',
  CNI_GATE_NOTHING_CHECKED: 'No workload of an opted-in namespace, or of the whole input, gets a check.',
  CNI_GATE_PROXY_MISSING: 'A pod requests a mesh whose injector has not run on the manifest.',
  CNI_GATE_INPUT_KUSTOMIZE: 'An input of review is a folder that kustomize must render.',
  CNI_GATE_INPUT_TOO_LARGE: 'An input of review exceeds a limit of review.',
  CNI_GATE_CLUSTER_CONFIG: 'No usable cluster configuration was found.',
  CNI_GATE_CLUSTER_PATH: 'A request to the API server was not sent: a name in its path is invalid.',
  CNI_GATE_CLUSTER_UNREACHABLE: 'The API server did not answer, or something else answered in its place.',
  CNI_GATE_CLUSTER_UNTRUSTED: 'The certificate of the API server is not trusted.',
  CNI_GATE_CLUSTER_UNAUTHORIZED: 'The API server does not accept the credentials.',
  CNI_GATE_CLUSTER_FORBIDDEN: 'The API server does not allow a request.',
  CNI_GATE_CLUSTER_NOT_FOUND: 'The cluster has no such object or resource.',
  CNI_GATE_CLUSTER_CONFLICT: 'An object was changed or created concurrently.',
  CNI_GATE_CLUSTER_GONE: 'The requested version of a resource is no longer kept.',
  CNI_GATE_CLUSTER_BUSY: 'The API server cannot answer now, or too many requests were made.',
  CNI_GATE_CLUSTER_REFUSED: 'The API server rejected a request, for example by a policy.',
  CNI_GATE_INTERNAL: 'A defect in cni-gate.',
} as const;

/** A stable code of an error; docs/reference/errors.md explains each. */
export type ErrorCode = keyof typeof errorCodes;

/** Address of the section of the documentation that explains an error code and what to do about it. */
export const errorPage = (code: ErrorCode): string => `${docsUrl}reference/errors.md#${code.toLowerCase()}`;

/** Whether a value is an error code of cni-gate. */
export const isErrorCode = (value: unknown): value is ErrorCode =>
  typeof value === 'string' && Object.hasOwn(errorCodes, value);

/** An error that a person has to act on. The message says what was expected, what was found, and where. */
export class CniGateError extends Error {
  override readonly name = 'CniGateError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The message of any thrown value, without a stack. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The message of a failed system call without its code, such as `no such file or directory`. */
export const systemText = (error: unknown): string =>
  /^E[A-Z0-9]+: ([^,]+)/.exec(messageOf(error))?.[1] ?? messageOf(error);
