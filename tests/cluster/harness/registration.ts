import { bindingsWebhook, profileLabel } from '../../../webhook/names.ts';

/** The webhook's name in {@link registration}. */
export const webhookName = 'pods.cni-gate.io';

/**
 * A MutatingWebhookConfiguration for `/mutate` behind a Service, for namespaces that opted in.
 *
 * @param authority PEM
 */
export function registration(service: { namespace: string; name: string }, authority: Buffer): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'cni-gate' },
    webhooks: [
      {
        name: webhookName,
        clientConfig: {
          service: { ...service, path: '/mutate', port: 443 },
          caBundle: authority.toString('base64'),
        },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        namespaceSelector: { matchExpressions: [{ key: profileLabel, operator: 'Exists' }] },
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
    metadata: { name: 'cni-gate' },
    webhooks: [
      webhook(bindingsWebhook, ['pods/binding', 'bindings']),
      webhook('placed-pods.cni-gate.io', ['pods'], { matchConditions: [placed] }),
    ],
  };
}
