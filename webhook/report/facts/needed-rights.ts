import type { Policy } from '../../config/policy.ts';
import { leaderLease, webhookConfiguration } from '../../lib/names.ts';

/** A right, in the words of RBAC. */
export interface Right {
  verb: string;
  group: string;
  /** With its subresource: `pods/status`. */
  resource: string;
  /** Absent: all objects. */
  name?: string;
  /** Absent: all namespaces, or a resource without any. */
  namespace?: string;
}

/** How a right reads in a message. */
export function rightText({ verb, group, resource, name, namespace }: Right): string {
  const what = [group === '' ? resource : `${resource}.${group}`, name].filter(Boolean).join(' ');
  return `${verb} ${what}${namespace === undefined ? '' : ` in namespace ${namespace}`}`;
}

/** What the rights of the server depend on. */
export interface RightsOptions {
  /** Of cni-gate. */
  namespace: string;
  policy: Pick<Policy, 'steer' | 'repair'>;
  /** The Secret of the managed certificates; undefined where the certificates come from elsewhere. */
  secret: string | undefined;
}

/** Rights to several verbs. */
const each = (verbs: string, right: Omit<Right, 'verb'>): Right[] =>
  verbs.split(' ').map((verb) => ({ verb, ...right }));

/** The rights that the service account needs for what the configuration asks of the replicas. A test compares them with the manifests. */
export function serverRights({ namespace, policy, secret }: RightsOptions): Right[] {
  const { steer, repair } = policy;
  const admission = 'admissionregistration.k8s.io';
  const named = { group: 'coordination.k8s.io', resource: 'leases', namespace };
  return [
    ...each('get list watch', { group: '', resource: 'namespaces' }),
    ...each('list watch', { group: '', resource: 'nodes' }),
    ...each('list watch', { group: 'apps', resource: 'daemonsets' }),
    ...each('get list watch', { group: '', resource: 'pods' }),
    ...each('get update', { ...named, name: leaderLease }),
    ...each('create', named),
    ...each('create', { group: 'events.k8s.io', resource: 'events' }),
    ...(steer.mode === 'off' ? [] : each('patch', { group: '', resource: 'pods/status' })),
    ...(repair.mode === 'recreate'
      ? [
          ...each('delete patch', { group: '', resource: 'pods' }),
          ...each('get', { group: 'apps', resource: 'replicasets' }),
        ]
      : []),
    ...(secret === undefined
      ? []
      : [
          ...['mutatingwebhookconfigurations', 'validatingwebhookconfigurations'].flatMap((resource) =>
            each('get list watch patch', { group: admission, resource, name: webhookConfiguration }),
          ),
          ...each('get list watch update', { group: '', resource: 'secrets', namespace, name: secret }),
          ...each('create', { group: '', resource: 'secrets', namespace }),
        ]),
  ];
}

/** The resources of the manifests, by their groups. A test compares them with the manifests. */
const installedResources: Record<string, readonly string[]> = {
  '': ['namespaces', 'serviceaccounts', 'services', 'configmaps', 'resourcequotas'],
  apps: ['deployments'],
  policy: ['poddisruptionbudgets'],
  'rbac.authorization.k8s.io': ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'],
  'admissionregistration.k8s.io': [
    'mutatingwebhookconfigurations',
    'validatingwebhookconfigurations',
    'validatingadmissionpolicies',
    'validatingadmissionpolicybindings',
  ],
};

/** The rights that `kubectl apply` of the manifests needs. */
export function installRights(): Right[] {
  return Object.entries(installedResources).flatMap(([group, resources]) =>
    resources.flatMap((resource) => each('create patch', { group, resource })),
  );
}
