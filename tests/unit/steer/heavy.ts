import type { PendingPod } from '../../../webhook/steer/pending-pod.ts';
import { node, now, waiting } from './support.ts';

/** As many as a large cluster has. */
export const manyNodes = Array.from({ length: 1002 }, (_, index) => node(`n${index}`));

/** A pod that fits no node, which only the last of 280 expressions shows. No other pod is of its kind. */
export function heavy(name: string, index: number): PendingPod {
  const matchExpressions = Array.from({ length: 280 }, (_, nth) => ({
    key: nth < 279 ? `key-${nth}` : 'name',
    operator: nth < 279 ? 'DoesNotExist' : 'In',
    ...(nth === 279 && { values: [`none-${index}`] }),
  }));
  return waiting(name, {
    namespace: 'hostile',
    group: name,
    heldSince: now - 60_000,
    constraints: {
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{ matchExpressions }] },
        },
      },
    },
  });
}
