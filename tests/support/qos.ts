import { allContainers, type Pod, type Quantities, type Resources } from '../../webhook/core/facts/pod.ts';
import { quantity } from '../../webhook/lib/quantity.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const counted = ['cpu', 'memory'];

/**
 * A pod's QoS class as Kubernetes computes it: `pkg/apis/core/v1/helper/qos/qos.go`, `ComputePodQOS`. Only cpu and
 * memory count, and a zero counts as absent. Init containers count like containers, ephemeral containers do not count.
 * If the pod has pod-level resources (Kubernetes 1.34 and later), only those count.
 */
export function qosClass(pod: Pod): QosClass {
  const own = pod.spec.resources ?? undefined;
  const all: Resources[] =
    own === undefined ? allContainers(pod).map((container) => container.resources ?? {}) : [own];
  const requests = sum(all.map((resources) => resources.requests));
  const limits = sum(all.map((resources) => resources.limits));
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  // each container, or the pod if it has pod-level resources, must have a limit for both cpu and memory
  const limited = all.every((resources) => sum([resources.limits]).size === counted.length);
  const equal = requests.size === limits.size && [...requests].every(([name, n]) => limits.get(name) === n);
  return limited && equal ? 'Guaranteed' : 'Burstable';
}

/** The sum of each resource that counts, without sums of zero. */
function sum(maps: (Quantities | null | undefined)[]): Map<string, number> {
  const totals = new Map<string, number>();
  for (const map of maps) {
    for (const [name, value] of Object.entries(map ?? {})) {
      const amount = quantity(value ?? 0);
      if (counted.includes(name) && amount > 0) totals.set(name, (totals.get(name) ?? 0) + amount);
    }
  }
  return totals;
}
