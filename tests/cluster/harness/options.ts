/** The programs that make up a control plane, in the order in which they are started. */
export const componentNames = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kwok',
] as const;

export type ComponentName = (typeof componentNames)[number];

export interface ClusterOptions {
  /** Of this file alone: for what stops components, or reads what one has done since its start. */
  own?: true;
  /**
   * Whether a node's Ready condition and its taints follow its heartbeats, as in a real cluster. Without it hand-made
   * nodes stay as they are. A number is the seconds without heartbeat until a node counts as gone, 4 at least;
   * `true` takes Kubernetes' own, 50.
   */
  nodeLifecycle?: boolean | number;
  /** What the API server records of each request, for {@link Cluster.audited}. Nothing by default. */
  audit?: 'Metadata' | 'Request' | 'RequestResponse';
  /** What is put around the command of a component, such as a control group. */
  enclose?: (component: ComponentName, command: [string, string[]]) => [string, string[]];
  /** Flags put behind the usual ones; where a flag comes twice, the last one counts. */
  flags?: Partial<Record<ComponentName, string[]>>;
}
