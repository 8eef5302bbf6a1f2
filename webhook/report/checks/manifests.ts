import type { installedPolicies, installedWebhooks } from '../../lib/names.ts';
import type { WebhookRules } from '../facts/digests.ts';

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
  'service-account.cni-gate.io': { digest: 'b52186fbf3d70418', conditions: ['by-cni-gate:790425bcb4e89ea0'] },
};

type WebhookName = (typeof installedWebhooks)[keyof typeof installedWebhooks][number];

/** A field of a webhook that is not as in the manifests. */
export interface Change {
  /** Its name, for `matchConditions` with the names of the conditions. */
  field: string;
  /** Whether requests that cni-gate has to see can pass the webhook by, or reach the wrong path. */
  defeats: boolean;
}

/** The fields in which a webhook differs from the manifests of this release; none for a webhook that is not ours. */
export function changesOf(name: string, found: WebhookRules): Change[] {
  const expected = Object.entries(expectedWebhooks).find(([known]) => known === name)?.[1];
  if (expected === undefined) return [];
  const differs = (field: Exclude<keyof WebhookRules, 'matchConditions' | 'path'>): boolean =>
    found[field] !== expected[field];
  const foreign = found.matchConditions.filter((condition) => !expected.matchConditions.includes(condition));
  const foreignNames = foreign.map((condition) => condition.split(':')[0]).join(', ');
  const moved = found.path !== undefined && found.path !== expected.path;
  return [
    ...(['rules', 'namespaceSelector', 'objectSelector'] as const)
      .filter(differs)
      .map((field) => ({ field, defeats: true })),
    ...(foreign.length > 0 ? [{ field: `matchConditions (${foreignNames})`, defeats: true }] : []),
    ...(moved ? [{ field: 'clientConfig.service.path', defeats: true }] : []),
    ...(['matchPolicy', 'reinvocationPolicy'] as const)
      .filter(differs)
      .map((field) => ({ field, defeats: false })),
  ];
}

/**
 * The webhooks in `manifests/base` of this release; a test compares them. A condition may be missing, as one is with
 * the component `no-opt-out`: the webhook is then called for more pods.
 */
export const expectedWebhooks: Record<WebhookName, WebhookRules> = {
  'pods.cni-gate.io': {
    rules: '0e056d012c8f503d',
    namespaceSelector: '8bf36dba5c7bbc41',
    objectSelector: '643d5437104296e2',
    matchConditions: [
      'not-a-mirror-pod:750a462d9e4b1f59',
      'not-by-a-kubelet:1e5e30a95314e5ab',
      'not-on-the-host-network:15faaebd5c4eb363',
      'not-opted-out:b1aaeaad273e1579',
      'not-on-windows:933283f624a61782',
      'not-of-a-network:7dba472bf992ad15',
    ],
    path: '/mutate',
    matchPolicy: 'Equivalent',
    reinvocationPolicy: 'IfNeeded',
  },
  'bindings.cni-gate.io': {
    rules: '906c5b9e2fd9178e',
    namespaceSelector: '8bf36dba5c7bbc41',
    objectSelector: '643d5437104296e2',
    matchConditions: [],
    path: '/gate',
    matchPolicy: 'Equivalent',
    reinvocationPolicy: 'Never',
  },
  'placed-pods.cni-gate.io': {
    rules: '0e056d012c8f503d',
    namespaceSelector: '8bf36dba5c7bbc41',
    objectSelector: '643d5437104296e2',
    matchConditions: ['not-a-mirror-pod:750a462d9e4b1f59', 'placed:6bd2cf140002f98b'],
    path: '/gate',
    matchPolicy: 'Equivalent',
    reinvocationPolicy: 'Never',
  },
  'namespaces.cni-gate.io': {
    rules: '14b7d0bf81cbe120',
    namespaceSelector: '643d5437104296e2',
    objectSelector: '5db56506d35e7bb7',
    matchConditions: ['opts-in:83afb87f74ae6dff', 'label-is-new:30ae3e47f8309d9e'],
    path: '/namespaces',
    matchPolicy: 'Equivalent',
    reinvocationPolicy: 'Never',
  },
};
