import { quoted } from '../lib/clean.ts';
import { CniGateError, type ErrorCode, messageOf } from '../lib/errors.ts';

type ClusterErrorDetails = Partial<
  Pick<ClusterError, 'status' | 'reason' | 'missingRight' | 'statusMessage' | 'causes'>
>;

/** A request without a successful answer. */
export class ClusterError extends CniGateError {
  /** The HTTP status of the answer; undefined if there was no answer. */
  readonly status: number | undefined;
  /** The reason in the answer's Status, such as `AlreadyExists` or `Expired`. */
  readonly reason: string | undefined;
  /** The permission that RBAC lacks, such as `verb "list" on resource "nodes" of API group ""`; otherwise undefined. */
  readonly missingRight: string | undefined;
  /** The message in the answer's Status; empty if there is none. */
  readonly statusMessage: string;
  readonly causes: readonly string[];

  constructor(code: ErrorCode, message: string, details: ClusterErrorDetails & ErrorOptions) {
    super(code, message, details);
    this.status = details.status;
    this.reason = details.reason;
    this.missingRight = details.missingRight;
    this.statusMessage = details.statusMessage ?? '';
    this.causes = details.causes ?? [];
  }
}

const codes: Record<number, ErrorCode> = {
  401: 'CNI_GATE_CLUSTER_UNAUTHORIZED',
  403: 'CNI_GATE_CLUSTER_FORBIDDEN',
  404: 'CNI_GATE_CLUSTER_NOT_FOUND',
  409: 'CNI_GATE_CLUSTER_CONFLICT',
  410: 'CNI_GATE_CLUSTER_GONE',
  429: 'CNI_GATE_CLUSTER_BUSY',
};

/** The body of an answer in which the API server refuses a request, and the object of an ERROR event. */
export interface Status {
  message?: unknown;
  reason?: unknown;
  code?: unknown;
  details?: { causes?: unknown } | null;
}

/**
 * @param operation see {@link operationText}
 * @param why appended to the message
 */
export function refusal(operation: string, status: number, body: string | Status, why = ''): ClusterError {
  const { message, reason, details } = typeof body === 'string' ? parseStatus(status, body) : body;
  const code = codes[status] ?? (status >= 500 ? 'CNI_GATE_CLUSTER_BUSY' : 'CNI_GATE_CLUSTER_REFUSED');
  const said = typeof message === 'string' && message !== '' ? quoted(message) : `status ${status}`;
  const missingRight = missingRightIn(said);
  const lacks = missingRight === undefined ? '' : `. RBAC lacks ${missingRight}`;
  return new ClusterError(code, `cannot ${operation}: ${said}${lacks}${why}`, {
    status,
    missingRight,
    statusMessage: typeof message === 'string' ? said : '',
    causes: messagesOf(details?.causes),
    reason: typeof reason === 'string' ? reason : undefined,
  });
}

/** An error of the network or of TLS, or an answer that does not come from an API server. */
export function unreachable(operation: string, server: string, error: unknown): ClusterError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  // `quoted`: an error about invalid JSON contains untrusted text; `split`: Node adds advice after a `;`
  const [message = ''] = quoted(messageOf(error)).split(';');
  const why = message.includes(code) ? message : `${message} (${code})`;
  return new ClusterError(
    codeOf(code),
    `cannot ${operation}: no answer from the API server at ${server}: ${why}`,
    { cause: error },
  );
}

/** Source: https://nodejs.org/api/tls.html#x509-certificate-error-codes */
function codeOf(code: string): ErrorCode {
  if (/^(?:CERT|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO|ERR_TLS_CERT)_/.test(code))
    return 'CNI_GATE_CLUSTER_UNTRUSTED';
  // errors in the client's own certificate or key
  return code.startsWith('ERR_OSSL_') ? 'CNI_GATE_CLUSTER_CONFIG' : 'CNI_GATE_CLUSTER_UNREACHABLE';
}

const verbs: Record<string, string> = { POST: 'create', PUT: 'update' };
const pathOfResource = /^\/apis?\/(?:[^/]+\/)?v\d[^/]*\/(?:namespaces\/([^/]+)\/)?([^/]+)(?:\/(.+))?$/;

/** A request in words, such as `get secrets cni-gate-ca in namespace cni-gate`. */
export function operationText(method: string, path: string, isWatch = false): string {
  const [, namespace, resource, name] = pathOfResource.exec(path) ?? [];
  if (resource === undefined) return `${method.toLowerCase()} ${path}`;
  const reading = isWatch ? 'watch' : name === undefined ? 'list' : 'get';
  const verb = method === 'GET' ? reading : (verbs[method] ?? method.toLowerCase());
  return [verb, resource, name, namespace && `in namespace ${namespace}`].filter(Boolean).join(' ');
}

/** The missing permission; undefined if an admission policy refused. Source: `forbiddenMessage` of k8s.io/apiserver. */
function missingRightIn(said: string): string | undefined {
  const [, verb, resource, group, path] =
    / cannot (\w+) (?:resource "([^"]*)" in API group "([^"]*)"|path "([^"]*)")/.exec(said) ?? [];
  if (verb === undefined) return undefined;
  return path === undefined
    ? `verb "${verb}" on resource "${resource}" of API group "${group}"`
    : `verb "${verb}" on nonResourceURL "${path}"`;
}

function messagesOf(causes: unknown): string[] {
  if (!Array.isArray(causes)) return [];
  return causes.flatMap((cause: unknown) => {
    const message = typeof cause === 'object' && cause !== null && 'message' in cause ? cause.message : '';
    return typeof message === 'string' && message !== '' ? [quoted(message)] : [];
  });
}

function parseStatus(status: number, body: string): Status {
  try {
    const value: unknown = JSON.parse(body);
    if (typeof value === 'object' && value !== null) return value;
  } catch {
    // a proxy may answer in HTML
  }
  const [line = ''] = body.trim().split('\n');
  return { message: [`status ${status}`, line.slice(0, 200)].filter(Boolean).join(': ') };
}
