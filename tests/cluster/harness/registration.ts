import { installedWebhooks, profileLabel, webhookConfiguration } from '../../../webhook/lib/names.ts';

export const configurationOf = (
  kind: 'Mutating' | 'Validating',
  name: string,
  webhooks: object[],
): object => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: `${kind}WebhookConfiguration`,
  metadata: { name },
  webhooks,
});

/** A webhook that is called when objects of these resources are created. @param more fields to add or to override */
export const webhookFor = (
  resources: string[],
  more: { name: string; clientConfig: object; [field: string]: unknown },
): object => ({
  rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources }],
  namespaceSelector: { matchExpressions: [{ key: profileLabel, operator: 'Exists' }] },
  failurePolicy: 'Fail',
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
  ...more,
});

interface Service {
  namespace: string;
  name: string;
}

const behind = (service: Service, authority: Buffer, path: string): object => ({
  service: { ...service, path, port: 443 },
  caBundle: authority.toString('base64'),
});

/** A MutatingWebhookConfiguration for `/mutate`. The API server begins to call it a moment after it is stored. */
export function registration(service: Service, authority: Buffer): object {
  const [name] = installedWebhooks.mutating;
  const clientConfig = behind(service, authority, '/mutate');
  const webhook = webhookFor(['pods'], { name, clientConfig, reinvocationPolicy: 'IfNeeded' });
  return configurationOf('Mutating', webhookConfiguration, [webhook]);
}

export function gateRegistration(service: Service, authority: Buffer): object {
  const [bindings, placedPods] = installedWebhooks.validating;
  const usual = {
    clientConfig: behind(service, authority, '/gate'),
    failurePolicy: 'Ignore',
    timeoutSeconds: 3,
  };
  const placed = { name: 'placed', expression: "has(object.spec.nodeName) && object.spec.nodeName != ''" };
  return configurationOf('Validating', webhookConfiguration, [
    webhookFor(['pods/binding', 'bindings'], { name: bindings, ...usual }),
    webhookFor(['pods'], { name: placedPods, ...usual, matchConditions: [placed] }),
  ]);
}
