import type { PodSpec, Taint, Toleration } from '../facts/api.ts';
import { type LabelledNode, matchesNode, toleratesAll } from './constraints.ts';

/** The fields of a DaemonSet's pod template that decide on which nodes the DaemonSet has pods. */
export type DaemonTemplate = Pick<PodSpec, 'nodeSelector' | 'affinity' | 'tolerations' | 'hostNetwork'>;

/** The tolerations that the DaemonSet controller adds to each pod. Source: `AddOrUpdateDaemonPodTolerations`. */
const automatic = [
  tolerating('not-ready', 'NoExecute'),
  tolerating('unreachable', 'NoExecute'),
  tolerating('disk-pressure', 'NoSchedule'),
  tolerating('memory-pressure', 'NoSchedule'),
  tolerating('pid-pressure', 'NoSchedule'),
  tolerating('unschedulable', 'NoSchedule'),
];
const onHostNetwork = tolerating('network-unavailable', 'NoSchedule');

function tolerating(name: string, effect: string): Toleration {
  return { key: `node.kubernetes.io/${name}`, operator: 'Exists', effect };
}

/** Whether the DaemonSet controller would create a pod for the node. Source: Kubernetes, `NodeShouldRunDaemonPod`. */
export function wantsDaemonPod(
  template: DaemonTemplate,
  node: LabelledNode & { taints: readonly Taint[] },
): boolean {
  const tolerations = [
    ...(template.tolerations ?? []),
    ...automatic,
    ...(template.hostNetwork === true ? [onHostNetwork] : []),
  ];
  return matchesNode(template, node) && toleratesAll(tolerations, node.taints);
}
