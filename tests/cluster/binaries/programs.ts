/** The programs of a control plane, and the one of a node, by the names that Kubernetes' own releases give them. */
export const programs = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubectl',
  'kubelet',
  'kwok',
] as const;

export type Program = (typeof programs)[number];

/** What Go calls a program where that is not its usual name: the last part of its package's path. */
export const builtAs: Partial<Record<Program, string>> = { etcd: 'server' };
