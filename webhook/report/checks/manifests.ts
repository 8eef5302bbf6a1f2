import type { installedPolicies, installedWebhooks } from '../../lib/names.ts';
import type { WebhookRules } from '../facts/digests.ts';

/** The conditions by which the policy and the webhook for pods pass pods over. */
const ofPods = [
  'not-a-mirror-pod:750a462d9e4b1f59',
  'not-by-a-kubelet:1e5e30a95314e5ab',
  'not-on-the-host-network:15faaebd5c4eb363',
  'not-opted-out:b1aaeaad273e1579',
  'not-on-windows:933283f624a61782',
  'not-of-a-network:7dba472bf992ad15',
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
    digest: '6d788d9a7354ae44',
    conditions: ofPods,
  },
  'service-account.cni-gate.io': { digest: 'b52186fbf3d70418', conditions: ['by-cni-gate:790425bcb4e89ea0'] },
};

type WebhookName = (typeof installedWebhooks)[keyof typeof installedWebhooks][number];

/** The fields in which a webhook differs from the manifests of this release; none for a webhook that is not ours. */
export function changesOf(name: string, found: WebhookRules): string[] {
  const expected = Object.entries(expectedWebhooks).find(([known]) => known === name)?.[1];
  if (expected === undefined) return [];
  const fields = [
    'rules',
    'namespaceSelector',
    'objectSelector',
    'matchPolicy',
    'reinvocationPolicy',
  ] as const;
  const foreign = found.matchConditions.filter((condition) => !expected.matchConditions.includes(condition));
  const foreignNames = foreign.map((condition) => condition.split(':')[0]).join(', ');
  return [
    ...fields.filter((field) => found[field] !== expected[field]),
    ...(foreign.length > 0 ? [`matchConditions (${foreignNames})`] : []),
    ...(found.path !== undefined && found.path !== expected.path ? ['clientConfig.service.path'] : []),
  ];
}

/** What two webhooks or more have in common. */
const common = {
  namespaceSelector: '8bf36dba5c7bbc41',
  objectSelector: '643d5437104296e2',
  matchPolicy: 'Equivalent',
  reinvocationPolicy: 'Never',
};

/**
 * The webhooks in `manifests/base` of this release; a test compares them. A condition may be missing, as one is with
 * the component `no-opt-out`: the webhook is then called for more pods.
 */
export const expectedWebhooks: Record<WebhookName, WebhookRules> = {
  'pods.cni-gate.io': {
    ...common,
    rules: '0e056d012c8f503d',
    matchConditions: ofPods,
    path: '/mutate',
    reinvocationPolicy: 'IfNeeded',
  },
  'bindings.cni-gate.io': { ...common, rules: '906c5b9e2fd9178e', matchConditions: [], path: '/gate' },
  'placed-pods.cni-gate.io': {
    ...common,
    rules: '0e056d012c8f503d',
    matchConditions: ['not-a-mirror-pod:750a462d9e4b1f59', 'placed:6bd2cf140002f98b'],
    path: '/gate',
  },
  'namespaces.cni-gate.io': {
    ...common,
    rules: '14b7d0bf81cbe120',
    namespaceSelector: '643d5437104296e2',
    objectSelector: '5db56506d35e7bb7',
    matchConditions: ['opts-in:83afb87f74ae6dff', 'label-is-new:30ae3e47f8309d9e'],
    path: '/namespaces',
  },
};
