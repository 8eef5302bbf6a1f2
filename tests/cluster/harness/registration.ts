import { profileLabel } from '../../../webhook/names.ts';

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
