import type { Cluster } from '../harness/cluster.ts';

const name = 'cni-gate';
const rule = (apiGroup: string, resources: string[], verbs: string[], resourceNames?: string[]): object => ({
  apiGroups: [apiGroup],
  resources,
  verbs,
  ...(resourceNames && { resourceNames }),
});

/** What the gate needs to know of the cluster, and what steering needs besides: nothing else. */
const everywhere = [
  rule('', ['namespaces', 'pods'], ['get', 'list', 'watch']),
  rule('', ['nodes'], ['list', 'watch']),
  rule('apps', ['daemonsets'], ['list', 'watch']),
  rule('', ['pods/status'], ['patch']),
  rule('events.k8s.io', ['events'], ['create']),
];
const atHome = [
  // who creates has no name yet
  rule('coordination.k8s.io', ['leases'], ['create']),
  rule('coordination.k8s.io', ['leases'], ['get', 'update'], ['cni-gate-leader']),
];

/** A service account that has exactly these rights; its kubeconfig. */
export async function withRights(cluster: Cluster): Promise<string> {
  const rbac = 'rbac.authorization.k8s.io';
  const apiVersion = `${rbac}/v1`;
  const home = { name, namespace: name };
  const subjects = [{ kind: 'ServiceAccount', ...home }];
  const to = (kind: string): object => ({ apiGroup: rbac, kind, name });
  await cluster.apply(
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name } },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: home },
    { apiVersion, kind: 'ClusterRole', metadata: { name }, rules: everywhere },
    { apiVersion, kind: 'ClusterRoleBinding', metadata: { name }, subjects, roleRef: to('ClusterRole') },
    { apiVersion, kind: 'Role', metadata: home, rules: atHome },
    { apiVersion, kind: 'RoleBinding', metadata: home, subjects, roleRef: to('Role') },
  );
  return (await cluster.serviceAccount(name, name)).kubeconfig;
}
