import type { V1LabelSelector } from '@kubernetes/client-node';
import { leftByThePolicy } from '../../core/policies/conditions.ts';
import { gateWebhooks, installedWebhooks, webhookConfiguration } from '../../lib/names.ts';
import type { Webhook } from '../observe/installation.ts';
import type { Facts } from '../observe/observe.ts';
import { conditionsFor, differences, objectIn } from './manifests.ts';
import { applyAgain, type Finding, failed, known, knownPolicy } from './row.ts';

/** Those webhooks of the manifests that decide about pods. */
export const expectedWebhooks = {
  mutating: webhooksIn('mutating-webhook', installedWebhooks.mutating),
  validating: webhooksIn('validating-webhook', gateWebhooks),
};

function webhooksIn(file: string, names: readonly string[]): Webhook[] {
  const webhooks: Webhook[] = objectIn(file).webhooks;
  return webhooks.filter(({ name }) => names.includes(name));
}

/** Whether the API server has our webhooks, trusts their server, and calls them for the right objects. */
export function checkWebhooks(facts: Facts): Finding[] {
  const wrong = (['mutating', 'validating'] as const).flatMap((kind) => {
    const registered = known(facts.installation[kind]) ?? [];
    return expectedWebhooks[kind].flatMap((expected) => {
      const found = registered.find(({ name }) => name === expected.name);
      const where = `${expected.name} in ${kind}webhookconfiguration/${webhookConfiguration}`;
      if (found === undefined) return `there is no webhook ${where}`;
      const fields = fieldsThatDiffer(expected, found, facts);
      return fields.length === 0 ? [] : `${fields.join(', ')} of ${where} not as in the manifests`;
    });
  });
  const hint = `${applyAgain}; apply keeps fields that others added. The replicas or cert-manager write the caBundle`;
  return wrong.length === 0 ? [] : [failed('CNI_GATE_NOT_REGISTERED', wrong.join('; '), hint)];
}

/** @throws Settled if the result depends on the configuration and that is not known */
function fieldsThatDiffer(
  expected: Webhook,
  found: Webhook,
  { configuration, installation }: Facts,
): string[] {
  const { service, caBundle } = found.clientConfig;
  // the component `policies` adds a condition
  const isLeft = found.matchConditions?.some(({ name }) => name === leftByThePolicy.name);
  const conditions = [...(expected.matchConditions ?? []), ...(isLeft ? [leftByThePolicy] : [])];
  const fields = differences(
    {
      ...comparedOf(expected),
      matchConditions: conditionsFor(conditions, configuration.policy),
      clientConfig: { ...expected.clientConfig.service, namespace: installation.namespace },
    },
    {
      ...comparedOf(found),
      matchConditions: found.matchConditions,
      clientConfig: service,
    },
  );
  if (fields.includes('matchConditions')) knownPolicy(configuration);
  // without a caBundle, the API server uses its machine's authorities, none of which signs certificates of a Service
  return !caBundle ? [...fields, 'caBundle'] : fields;
}

const comparedOf = (webhook: Webhook) => ({
  rules: webhook.rules,
  namespaceSelector: withoutProvider(webhook.namespaceSelector),
  objectSelector: webhook.objectSelector,
  matchPolicy: webhook.matchPolicy,
  reinvocationPolicy: webhook.reinvocationPolicy,
});

/**
 * Requirements that the admissions enforcer of Azure Kubernetes Service adds to the namespaceSelector of every
 * webhook, and restores when they are removed. These requirements exclude only namespaces of AKS itself.
 * https://learn.microsoft.com/en-us/azure/aks/faq#can-admission-controller-webhooks-impact-kube-system-and-internal-aks-namespaces
 */
const ofProvider = new Set([
  'control-plane DoesNotExist ',
  'control-plane NotIn true',
  'kubernetes.azure.com/managedby NotIn aks',
]);

const withoutProvider = (selector: V1LabelSelector | undefined) => ({
  ...selector,
  matchExpressions: selector?.matchExpressions?.filter(
    ({ key, operator, values }) => !ofProvider.has(`${key} ${operator} ${(values ?? []).join()}`),
  ),
});
