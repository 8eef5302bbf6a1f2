import { isDeepStrictEqual } from 'node:util';
import type {
  V1LabelSelector,
  V1ValidatingAdmissionPolicyBindingSpec,
  V1ValidatingAdmissionPolicySpec,
} from '@kubernetes/client-node';
import type { installedPolicies } from '../../lib/names.ts';
import type { Webhook } from '../facts/installation.ts';
import { objectsIn } from '../facts/manifests.ts';

/* What is registered in a cluster, compared with the manifests of this release. */

type PolicyName = (typeof installedPolicies)[number];

/** The specs of the policies in the manifests. */
export const expectedPolicies: Record<PolicyName, V1ValidatingAdmissionPolicySpec> = {
  'pods.cni-gate.io': objectsIn('policy-pods')[0].spec,
  'service-account.cni-gate.io': objectsIn('policy-service-account')[0].spec,
};

/** The webhooks in the manifests. */
export const expectedWebhooks: readonly Webhook[] = ['mutating-webhook', 'validating-webhook'].flatMap(
  (file) => objectsIn(file)[0].webhooks,
);

/** The fields in which a webhook differs from the manifests; none for a webhook that is not ours. */
export function changesOfWebhook(found: Webhook): string[] {
  const expected = expectedWebhooks.find(({ name }) => name === found.name);
  if (expected === undefined) return [];
  const parts = ({ clientConfig, namespaceSelector, ...webhook }: Webhook) => ({
    rules: webhook.rules,
    namespaceSelector: withoutProvider(namespaceSelector),
    objectSelector: webhook.objectSelector,
    matchConditions: webhook.matchConditions,
    matchPolicy: webhook.matchPolicy,
    reinvocationPolicy: webhook.reinvocationPolicy,
    // a server outside of the cluster may have any URL
    clientConfig: { ...(found.clientConfig.url ? {} : clientConfig.service), namespace: undefined },
  });
  return differences(parts(expected), parts(found));
}

/** The fields in which a policy differs from the manifests. An installation sets the variable `images`. */
export function changesOfPolicy(name: PolicyName, found: V1ValidatingAdmissionPolicySpec): string[] {
  const parts = (spec: V1ValidatingAdmissionPolicySpec) => ({
    paramKind: spec.paramKind,
    matchConstraints: spec.matchConstraints,
    matchConditions: spec.matchConditions,
    variables: spec.variables?.filter((variable) => variable.name !== 'images'),
    validations: spec.validations?.map(({ expression }) => expression),
  });
  return differences(parts(expectedPolicies[name]), parts(found));
}

/** Whether a binding leaves objects out. The API server may fill in empty selectors. */
export const isNarrowed = ({ matchResources }: V1ValidatingAdmissionPolicyBindingSpec): boolean =>
  plain(matchResources) !== undefined;

interface Parts {
  [field: string]: unknown;
  matchConditions: Webhook['matchConditions'];
}

/** A condition may be missing, as with the component `no-opt-out`: it only passes objects over. */
function differences(expected: Parts, found: Parts): string[] {
  const kept = new Set(found.matchConditions?.map(({ name }) => name));
  const conditions = expected.matchConditions?.filter(({ name }) => kept.has(name));
  const wanted: Parts = { ...expected, matchConditions: conditions };
  return Object.keys(found).filter((field) => !isDeepStrictEqual(plain(wanted[field]), plain(found[field])));
}

/** What the API server fills in. */
const defaults: Readonly<Record<string, unknown>> = {
  scope: '*',
  port: 443,
  matchPolicy: 'Equivalent',
  reinvocationPolicy: 'Never',
};

/** A value without defaults and empty parts; undefined if nothing is left. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(plain);
  if (typeof value !== 'object' || value === null) return value ?? undefined;
  const fields = Object.entries(value)
    .map(([key, part]) => [key, plain(part)] as const)
    .filter(([key, part]) => part !== undefined && part !== defaults[key]);
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}

/**
 * Requirements that the admissions enforcer of Azure Kubernetes Service writes into the namespaceSelector of every
 * webhook, and writes again when they are taken out. They leave out namespaces of AKS alone.
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
