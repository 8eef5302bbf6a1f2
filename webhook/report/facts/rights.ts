import type { V1SelfSubjectAccessReview } from '@kubernetes/client-node';
import type { ApiClient } from '../../cluster/client.ts';
import type { Policy } from '../../config/policy.ts';
import { leaderLease, webhookConfiguration } from '../../lib/names.ts';
import { type Observation, observe } from './observation.ts';
import { mapEach } from './reader.ts';

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
interface RightsOptions {
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
  const core = (resource: string) => ({ group: '', resource });
  const configurations = { group: 'admissionregistration.k8s.io', name: webhookConfiguration };
  const leases = { group: 'coordination.k8s.io', resource: 'leases', namespace };
  const secrets = { ...core('secrets'), namespace };
  return [
    ...each('get list watch', core('namespaces')),
    ...each('list watch', core('nodes')),
    ...each('list watch', { group: 'apps', resource: 'daemonsets' }),
    ...each('get list watch', core('pods')),
    ...each('get update', { ...leases, name: leaderLease }),
    ...each('create', leases),
    ...each('create', { group: 'events.k8s.io', resource: 'events' }),
    ...(policy.steer.mode === 'off' ? [] : each('patch', core('pods/status'))),
    ...(policy.repair.mode === 'recreate'
      ? [...each('delete patch', core('pods')), ...each('get', { group: 'apps', resource: 'replicasets' })]
      : []),
    ...(secret === undefined
      ? []
      : [
          ...each('get list watch patch', { ...configurations, resource: 'mutatingwebhookconfigurations' }),
          ...each('get list watch patch', { ...configurations, resource: 'validatingwebhookconfigurations' }),
          ...each('get list watch update', { ...secrets, name: secret }),
          ...each('create', secrets),
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
export const installRights = (): Right[] =>
  Object.entries(installedResources).flatMap(([group, resources]) =>
    resources.flatMap((resource) => each('create patch', { group, resource })),
  );

/** A right, and whether the one who was asked about has it. */
export interface RightFacts {
  right: Right;
  allowed: boolean;
}

/** Asks whether a service account has each of these rights, however they were given to it. */
export async function rightsOf(
  client: ApiClient,
  { namespace, name }: { namespace: string; name: string },
  rights: readonly Right[],
): Promise<Observation<RightFacts[]>> {
  const subject = {
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
  };
  const asked = mapEach(rights, (right) => ask(client, 'SubjectAccessReview', right, subject));
  return observe(asked, 'the rights of the service account');
}

/** Asks whether the caller has each of these rights. Everybody may ask that. */
export const ownRights = (client: ApiClient, rights: readonly Right[]): Promise<RightFacts[]> =>
  mapEach(rights, (right) => ask(client, 'SelfSubjectAccessReview', right));

async function ask(client: ApiClient, kind: string, right: Right, subject: object = {}): Promise<RightFacts> {
  const [resource, subresource] = right.resource.split('/');
  const resourceAttributes = { ...right, resource, ...(subresource && { subresource }) };
  const body = { apiVersion: 'authorization.k8s.io/v1', kind, spec: { ...subject, resourceAttributes } };
  const path = `/apis/authorization.k8s.io/v1/${kind.toLowerCase()}s`;
  const { status } = await client.request<V1SelfSubjectAccessReview>('POST', path, { body });
  return { right, allowed: status?.allowed === true };
}
