import { type LabelledNode, matchesNode, type NodeConstraints } from './node-selector.ts';
import { type Taint, type Toleration, toleratesAll } from './taints.ts';

/** The parts of a DaemonSet's pod template that restrict its nodes. */
export interface DaemonTemplate extends NodeConstraints {
  tolerations?: Toleration[] | null;
  hostNetwork?: boolean | null;
  /** A template may name a single node. */
  nodeName?: string | null;
}

/**
 * Tolerations that the controller adds to every pod of a DaemonSet. Source: Kubernetes, `AddOrUpdateDaemonPodTolerations` in
 * `pkg/controller/daemon/util`.
 */
const automatic: readonly Toleration[] = [
  { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute' },
  { key: 'node.kubernetes.io/disk-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/memory-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/pid-pressure', operator: 'Exists', effect: 'NoSchedule' },
  { key: 'node.kubernetes.io/unschedulable', operator: 'Exists', effect: 'NoSchedule' },
];
const onHostNetwork: Toleration = {
  key: 'node.kubernetes.io/network-unavailable',
  operator: 'Exists',
  effect: 'NoSchedule',
};

/**
 * Whether the DaemonSet controller would put a pod of this template on the node. Source: Kubernetes,
 * `NodeShouldRunDaemonPod`.
 */
export function wantsDaemonPod(
  template: DaemonTemplate,
  node: LabelledNode & { taints: readonly Taint[] },
): boolean {
  const tolerations = [
    ...(template.tolerations ?? []),
    ...automatic,
    ...(template.hostNetwork === true ? [onHostNetwork] : []),
  ];
  if (template.nodeName && template.nodeName !== node.name) return false;
  return matchesNode(template, node) && toleratesAll(tolerations, node.taints);
}
