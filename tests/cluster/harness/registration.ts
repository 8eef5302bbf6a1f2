import { installedWebhooks, profileLabel, webhookConfiguration } from '../../../webhook/lib/names.ts';

/** The webhook's name in {@link registration}. */
export const [webhookName] = installedWebhooks.mutating;

const [bindings, placedPods] = installedWebhooks.validating;

/**
 * A MutatingWebhookConfiguration for `/mutate` behind a Service, for pods of namespaces that opted in. The API
 * server calls it a moment after it was applied: make sure of it, with `eventually`, before something rests on it.
 *
 * @param authority of the server's certificate, PEM
 * @param other another name of the webhook, which its configuration then has too, and another label that opts in
 */
export function registration(
  service: { namespace: string; name: string },
  authority: Buffer,
  { name = webhookName, label = profileLabel }: { name?: string; label?: string } = {},
): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: name === webhookName ? webhookConfiguration : name },
    webhooks: [
      {
        name,
        clientConfig: {
          service: { ...service, path: '/mutate', port: 443 },
          caBundle: authority.toString('base64'),
        },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        namespaceSelector: { matchExpressions: [{ key: label, operator: 'Exists' }] },
        failurePolicy: 'Fail',
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        reinvocationPolicy: 'IfNeeded',
      },
    ],
  };
}

/** A ValidatingWebhookConfiguration for `/gate` behind the same Service. */
export function gateRegistration(service: { namespace: string; name: string }, authority: Buffer): object {
  const webhook = (name: string, resources: string[], more: object = {}): object => ({
    name,
    clientConfig: {
      service: { ...service, path: '/gate', port: 443 },
      caBundle: authority.toString('base64'),
    },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources }],
    namespaceSelector: { matchExpressions: [{ key: profileLabel, operator: 'Exists' }] },
    failurePolicy: 'Ignore',
    timeoutSeconds: 3,
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
    ...more,
  });
  const placed = { name: 'placed', expression: "has(object.spec.nodeName) && object.spec.nodeName != ''" };
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: webhookConfiguration },
    webhooks: [
      webhook(bindings, ['pods/binding', 'bindings']),
      webhook(placedPods, ['pods'], { matchConditions: [placed] }),
    ],
  };
}
