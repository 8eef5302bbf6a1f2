/** The two kinds of webhook configurations. */
export type WebhookKind = 'mutating' | 'validating';

/** The folder of the API in which configurations of a kind are. */
export function configurationsPath(kind: WebhookKind): string {
  return `/apis/admissionregistration.k8s.io/v1/${kind}webhookconfigurations`;
}
