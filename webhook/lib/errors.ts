import { docsUrl } from './names.ts';

/**
 * All error codes of cni-gate. `docs/reference/errors.md` has a section for each, and a test compares the two.
 */
export const errorCodes = {
  CNI_GATE_USAGE: 'The command line asks for something that does not exist or does not go together.',
  CNI_GATE_CONFIG_UNREADABLE: 'The configuration file is missing or may not be read.',
  CNI_GATE_CONFIG_SYNTAX: 'The configuration file is not YAML.',
  CNI_GATE_CONFIG_INVALID: 'The configuration file is YAML, but not a configuration of cni-gate.',
  CNI_GATE_PROFILE_UNKNOWN: 'A label or flag names a profile that the configuration does not have.',
  CNI_GATE_PROFILE_JOIN: 'A label or flag joins profiles that cannot hold together.',
  CNI_GATE_STATE_INVALID: 'The file of cluster objects given with --cluster-state cannot be used.',
  CNI_GATE_HTTP: 'A call is not a request of HTTP as the server can read it.',
  CNI_GATE_REVIEW_SYNTAX: 'The body of an admission call is not JSON.',
  CNI_GATE_REVIEW_INVALID:
    'The body of an admission call is JSON, but not an AdmissionReview of what this path serves.',
  CNI_GATE_REVIEW_NAME: 'An AdmissionReview names something by a name or UID that Kubernetes does not allow.',
  CNI_GATE_REVIEW_KIND: 'The AdmissionReview is about another kind of object than this path serves.',
  CNI_GATE_REVIEW_TOO_LARGE: 'The body of an admission call is larger than an AdmissionReview can be.',
  CNI_GATE_REVIEW_MEDIA: 'The body of an admission call is not sent as plain application/json.',
  CNI_GATE_BUSY: 'The server has no memory left for another admission call at this moment.',
  CNI_GATE_NOT_FOUND: 'The server has no such path, or serves it by another method.',
  CNI_GATE_NAMESPACE_UNKNOWN: 'A pod came from a namespace whose labels are not known.',
  CNI_GATE_DAEMONSET_UNKNOWN: 'A profile that is in use names a DaemonSet that does not exist.',
  CNI_GATE_NOT_REGISTERED:
    'The API server has no such webhook of cni-gate, no caBundle to call it by, or one that is not as in the manifests.',
  CNI_GATE_NOT_INSTALLED: 'The cluster has nothing of cni-gate that could review a pod.',
  CNI_GATE_DEPLOYMENT: 'The Deployment of cni-gate has fewer ready replicas than it is to have.',
  CNI_GATE_NO_ENDPOINTS:
    'The Service that the webhooks call does not exist, or no endpoint behind it is ready with its port.',
  CNI_GATE_POLICY:
    'A ValidatingAdmissionPolicy of cni-gate is missing, not bound, or not that of the manifests.',
  CNI_GATE_NO_LEADER: 'No replica of cni-gate leads, so pods that are refused are sent nowhere.',
  CNI_GATE_KUBERNETES: 'The cluster lacks something of Kubernetes that cni-gate needs.',
  CNI_GATE_RIGHTS: 'The service account of cni-gate, or who is to install it, lacks a right.',
  CNI_GATE_CLOCK_SKEW: 'The clock of a node or of the leader is not that of the API server.',
  CNI_GATE_PROBE: 'A pod that status asked the API server about did not come back with its proof.',
  CNI_GATE_NOT_OPTED_IN: 'A namespace that is meant to opt in has not.',
  CNI_GATE_DASHBOARD_HOST: 'A call of the dashboard names another host than this machine.',
  CNI_GATE_DASHBOARD_TOKEN: 'A call for the data of the dashboard has no token, or another one.',
  CNI_GATE_OUTPUT: 'A file that a command was told to write cannot be written.',
  CNI_GATE_NODE_NOT_READY: 'A pod was to be put on a node whose network is not ready.',
  CNI_GATE_NAME_TAKEN: 'A pod has a container or volume with a name that belongs to cni-gate.',
  CNI_GATE_PATCH_FAILED: 'The patch that cni-gate made does not apply to the pod; nothing was sent.',
  CNI_GATE_DEADLINE: 'The answer was not ready when the API server stopped waiting.',
  CNI_GATE_TLS_UNREADABLE: 'A certificate or key file is missing, may not be read, or is not PEM.',
  CNI_GATE_TLS_PAIR:
    'The certificate and the key do not belong together, or the certificate is not in force.',
  CNI_GATE_TLS_SECRET: 'The Secret of the managed certificates is missing, damaged, or may not be used.',
  CNI_GATE_TLS_SECRET_FOREIGN: 'The Secret of the managed certificates belongs to somebody else.',
  CNI_GATE_CA_BUNDLE: 'A webhook configuration does not trust the managed certificates, or is not there.',
  CNI_GATE_CLIENT_CERTIFICATE: 'An admission call came without the client certificate that is asked for.',
  CNI_GATE_CLIENT_NAME: 'An admission call came with the client certificate of somebody else.',
  CNI_GATE_LISTEN: 'A port could not be opened.',
  CNI_GATE_INPUT_UNREADABLE: 'A file, folder or glob given to review is missing or may not be read.',
  CNI_GATE_INPUT_SYNTAX:
    'An input of review is neither YAML nor JSON, or a document in it has the wrong form.',
  CNI_GATE_JOB_COUNTS_PROOF: 'A Job counts proofs that fail, and may fail for its network.',
  CNI_GATE_KEY_UNKNOWN:
    'A manifest has a label or annotation that looks like one of cni-gate and has no effect.',
  CNI_GATE_KIND_UNKNOWN: 'An object of an unknown kind has containers that review does not check.',
  CNI_GATE_NAMESPACE_NOT_GIVEN: 'A workload is in a namespace that is not in the input of review.',
  CNI_GATE_NAMESPACE_TWICE: 'A Namespace is twice in the input of review, with different profile labels.',
  CNI_GATE_NOTHING_CHECKED:
    'No workload of an opted-in namespace, or of the whole input of review, gets a check.',
  CNI_GATE_PROXY_MISSING: 'A pod asks for a mesh whose injector has not run on the manifest yet.',
  CNI_GATE_TEMPLATE_NOT_GIVEN:
    'An object takes its pod template from one that is not in the input of review.',
  CNI_GATE_INPUT_KUSTOMIZE: 'An input of review is a folder that kustomize has to render.',
  CNI_GATE_INPUT_TEMPLATE: 'An input of review is a template that was not rendered.',
  CNI_GATE_INPUT_TOO_LARGE: 'An input of review is larger, or contains more, than review accepts.',
  CNI_GATE_GIT: 'Git cannot compare the input of review with a revision: it is missing, or failed.',
  CNI_GATE_GIT_REVISION: 'The revision that review was told to compare with does not exist.',
  CNI_GATE_SERVER: 'The server that review was told to ask did not answer as an admission server does.',
  CNI_GATE_CLUSTER_CONFIG: 'There is no cluster to ask, or the way to it cannot be used.',
  CNI_GATE_CLUSTER_PATH: 'A request to the API server was not sent, because a name in its path is not one.',
  CNI_GATE_CLUSTER_UNREACHABLE: 'The API server gave no answer, or one that is no answer of an API server.',
  CNI_GATE_CLUSTER_UNTRUSTED: 'The certificate of the API server is not accepted.',
  CNI_GATE_CLUSTER_UNAUTHORIZED: 'The API server does not accept the credentials.',
  CNI_GATE_CLUSTER_FORBIDDEN: 'The API server knows who asks and does not allow it.',
  CNI_GATE_CLUSTER_NOT_FOUND: 'The cluster has no such object or resource.',
  CNI_GATE_CLUSTER_CONFLICT: 'An object was changed or made by somebody else at the same time.',
  CNI_GATE_CLUSTER_GONE: 'What was asked about is too far in the past.',
  CNI_GATE_CLUSTER_BUSY: 'The API server answered that it cannot answer now.',
  CNI_GATE_CLUSTER_TOO_LARGE: 'An object of the cluster is larger than is read.',
  CNI_GATE_CLUSTER_REFUSED: 'The API server found fault with a request.',
  CNI_GATE_INTERNAL: 'A defect in cni-gate itself.',
} as const;

/** A stable code of an error; docs/reference/errors.md explains each. */
export type ErrorCode = keyof typeof errorCodes;

/** Address of the section that says what a code means and what to do. */
export const errorPage = (code: ErrorCode): string => `${docsUrl}reference/errors.md#${code.toLowerCase()}`;

/** Whether a value is an error code of cni-gate. */
export const isErrorCode = (value: unknown): value is ErrorCode =>
  typeof value === 'string' && Object.hasOwn(errorCodes, value);

/**
 * An error for the person who has to act on it. The message says what was expected, what was seen and where. The code is
 * stable, and the documentation explains it.
 */
export class CniGateError extends Error {
  override readonly name = 'CniGateError';
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The message of anything that was thrown, without a stack. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The errno code (`ENOENT`, `EADDRINUSE`) of a failed system call, where there is one. */
export function errnoOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return typeof code === 'string' && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}
