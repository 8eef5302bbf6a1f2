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
  /**
   * Whether a node's Ready condition and taints follow its heartbeats, as in a real cluster. Without the option,
   * nodes that tests create stay as they are. A number (at least 4) is the seconds without a heartbeat after which a
   * node counts as unreachable; `true` stands for Kubernetes' default, 50.
   */
  nodeLifecycle?: boolean | number;
  /** Wraps the command of a component, for instance to run it in a control group. */
  enclose?: (component: ComponentName, command: [string, string[]]) => [string, string[]];
  /** Flags that are appended to the usual ones; if a flag occurs twice, the last one counts. */
  flags?: Partial<Record<ComponentName, string[]>>;
}
