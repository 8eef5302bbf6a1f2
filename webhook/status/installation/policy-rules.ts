import { createHash } from 'node:crypto';
import type { installedPolicies } from '../../lib/names.ts';

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
export interface Named {
  name: string;
  expression: string;
}

/** A label selector, as the API has it. */
export interface ApiSelector {
  matchLabels?: Record<string, string> | null;
  matchExpressions?: { key: string; operator: string; values?: string[] | null }[] | null;
}

/** A rule of a webhook or a policy, as the API has it. */
export interface ApiRule {
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
export function conditionDigests({ matchConditions }: Pick<ApiPolicySpec, 'matchConditions'>): string[] {
  return (matchConditions ?? []).map(({ name, expression }) => `${name}:${digest(expression)}`);
}

/** The first letters of the SHA-256 of a value as JSON. */
export const digest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);

/** A selector without what the API server fills in. */
export const selectorText = (selector: ApiSelector | null | undefined): unknown => [
  Object.entries(selector?.matchLabels ?? {}).toSorted(),
  (selector?.matchExpressions ?? []).map(({ key, operator, values }) => [key, operator, values ?? []]),
];

/** A rule without what the API server fills in. */
export const ruleText = (rule: ApiRule): unknown => [
  ...[rule.apiGroups, rule.apiVersions, rule.resources, rule.operations, rule.resourceNames].map(
    (list) => list ?? [],
  ),
  rule.scope ?? '*',
];

/**
 * The digests of the policies in `manifests/base` of this release; a test compares them. A condition may be missing,
 * as one is with the component `no-opt-out`: the policy then looks at more pods.
 */
export const expectedPolicies: Record<
  (typeof installedPolicies)[number],
  { digest: string; conditions: readonly string[] }
> = {
  'pods.cni-gate.io': {
    digest: 'bbdba6ca925c1540',
    conditions: [
      'not-a-mirror-pod:750a462d9e4b1f59',
      'not-by-a-kubelet:1e5e30a95314e5ab',
      'not-on-the-host-network:15faaebd5c4eb363',
      'not-opted-out:b1aaeaad273e1579',
      'not-on-windows:933283f624a61782',
      'not-of-a-network:7dba472bf992ad15',
    ],
  },
  'service-account.cni-gate.io': { digest: '2ccabf846606b78c', conditions: ['by-cni-gate:790425bcb4e89ea0'] },
};
