import type { ClusterError } from '../../kubernetes/errors.ts';
import type { RefusedBy } from '../facts.ts';

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
export function refusedBy({ status, reason, missingRight, statusMessage, causes }: ClusterError): RefusedBy {
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
