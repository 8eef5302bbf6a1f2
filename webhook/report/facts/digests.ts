import { createHash } from 'node:crypto';

/** The parts of a ValidatingAdmissionPolicy that are compared with the manifests, as the API gives them. */
export interface ApiPolicySpec {
  paramKind?: object | null;
  matchConstraints?: {
    namespaceSelector?: ApiSelector | null;
    objectSelector?: ApiSelector | null;
    resourceRules?: ApiRule[] | null;
    excludeResourceRules?: ApiRule[] | null;
  } | null;
  matchConditions?: Named[] | null;
  variables?: Named[] | null;
  validations?: { expression: string }[] | null;
  failurePolicy?: 'Fail' | 'Ignore' | null;
}

/** A named CEL expression, as the API has it. */
interface Named {
  name: string;
  expression: string;
}

/** A label selector, as the API has it. */
interface ApiSelector {
  matchLabels?: Record<string, string> | null;
  matchExpressions?: { key: string; operator: string; values?: string[] | null }[] | null;
}

/** A rule of a webhook or a policy, as the API has it. */
interface ApiRule {
  apiGroups?: string[] | null;
  apiVersions?: string[] | null;
  resources?: string[] | null;
  operations?: string[] | null;
  resourceNames?: string[] | null;
  scope?: string | null;
}

/**
 * What a policy asks of which objects, in a few letters. Texts of messages are left out; so is what the API server
 * fills in, such as `scope: "*"`, the variable `images`, which an installation sets, and `matchConditions`, which have
 * {@link conditionDigests}.
 */
export function policyDigest({ matchConstraints, variables, validations }: ApiPolicySpec): string {
  const { namespaceSelector, objectSelector, resourceRules, excludeResourceRules } = matchConstraints ?? {};
  return digest([
    [namespaceSelector, objectSelector].map(selectorText),
    [resourceRules, excludeResourceRules].map((rules) => (rules ?? []).map(ruleText)),
    (variables ?? [])
      .filter(({ name }) => name !== 'images')
      .map(({ name, expression }) => [name, expression]),
    (validations ?? []).map(({ expression }) => expression),
  ]);
}

/** `name:digest` of each condition by which a policy or a webhook passes objects over. */
export function conditionDigests({
  matchConditions,
}: Pick<ApiPolicySpec, 'matchConditions'>): readonly string[] {
  return (matchConditions ?? []).map(({ name, expression }) => `${name}:${digest(expression)}`);
}

/** The first letters of the SHA-256 of a value as JSON. */
const digest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);

/** A selector without what the API server fills in. */
const selectorText = (selector: ApiSelector | null | undefined): unknown => [
  Object.entries(selector?.matchLabels ?? {}).toSorted(),
  (selector?.matchExpressions ?? []).map(({ key, operator, values }) => [key, operator, values ?? []]),
];

/** A rule without what the API server fills in. */
const ruleText = (rule: ApiRule): unknown => [
  ...[rule.apiGroups, rule.apiVersions, rule.resources, rule.operations, rule.resourceNames].map(
    (list) => list ?? [],
  ),
  rule.scope ?? '*',
];

/** The parts of a registered webhook that are compared with the manifests, as the API gives them. */
export interface ApiWebhookRules {
  clientConfig: { service?: { path?: string | null } | null };
  rules?: ApiRule[] | null;
  namespaceSelector?: ApiSelector | null;
  objectSelector?: ApiSelector | null;
  matchConditions?: Named[] | null;
  matchPolicy?: string | null;
  reinvocationPolicy?: string | null;
}

/** Which requests a webhook is called for, and at which path. Rules and selectors are digests. */
export interface WebhookRules {
  rules: string;
  namespaceSelector: string;
  objectSelector: string;
  /** See `conditionDigests`. */
  matchConditions: readonly string[];
  /** Absent where the webhook is called at a URL, which may have any path. */
  path?: string;
  matchPolicy: string;
  reinvocationPolicy: string;
}

/** What the API server fills in where a field is missing counts as the field. */
export function webhookRules(webhook: ApiWebhookRules): WebhookRules {
  const { service } = webhook.clientConfig;
  return {
    rules: digest((webhook.rules ?? []).map(ruleText)),
    namespaceSelector: digest(selectorText(withoutProvider(webhook.namespaceSelector))),
    objectSelector: digest(selectorText(webhook.objectSelector)),
    matchConditions: conditionDigests(webhook),
    ...(service && { path: service.path ?? '/' }),
    matchPolicy: webhook.matchPolicy ?? 'Equivalent',
    reinvocationPolicy: webhook.reinvocationPolicy ?? 'Never',
  };
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

function withoutProvider(selector: ApiSelector | null | undefined): ApiSelector {
  const matchExpressions = (selector?.matchExpressions ?? []).filter(
    ({ key, operator, values }) => !ofProvider.has(`${key} ${operator} ${(values ?? []).join()}`),
  );
  return { ...selector, matchExpressions };
}
