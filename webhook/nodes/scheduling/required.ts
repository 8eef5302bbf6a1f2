import type { NodeConstraints } from './node-selector.ts';
import type { Toleration } from './taints.ts';

/** The parts of a pod's spec that say which nodes take it, apart from its size and its volumes. */
export interface ConstrainedSpec extends NodeConstraints {
  tolerations?: Toleration[] | null;
}

/** What a pod requires of a node, apart from its size and its volumes. */
export interface Required {
  constraints: NodeConstraints;
  tolerations: Toleration[];
}

/** Takes over what decides, and nothing else of the spec. */
export const requiredOf = (spec: ConstrainedSpec): Required => ({
  constraints: {
    nodeSelector: spec.nodeSelector ?? {},
    affinity: { nodeAffinity: spec.affinity?.nodeAffinity ?? null },
  },
  tolerations: spec.tolerations ?? [],
});

/** The number of terms that are compared with each node. A list of values counts once. */
export function countTerms({ constraints, tolerations }: Required): number {
  const required = constraints.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const affinity = (required?.nodeSelectorTerms ?? []).reduce(
    // an empty term is compared as well
    (sum, { matchExpressions, matchFields }) =>
      sum + Math.max(1, (matchExpressions ?? []).length + (matchFields ?? []).length),
    0,
  );
  return Object.keys(constraints.nodeSelector ?? {}).length + affinity + tolerations.length;
}

/** A part of a pod's volumes. */
export interface VolumeSource {
  persistentVolumeClaim?: unknown;
  ephemeral?: unknown;
}

/** Whether a pod has PersistentVolumeClaims. Their volumes are mostly usable in one zone. */
export const hasClaims = (volumes: readonly VolumeSource[] | null | undefined): boolean =>
  (volumes ?? []).some(({ persistentVolumeClaim, ephemeral }) => Boolean(persistentVolumeClaim || ephemeral));

/** Most volumes that are not usable everywhere are usable in one zone. Source: Kubernetes, well-known labels. */
export const zoneLabel = 'topology.kubernetes.io/zone';
