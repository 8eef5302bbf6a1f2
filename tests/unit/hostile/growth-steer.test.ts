import type { Gate } from '../../../webhook/leader/nominate/accepts.ts';
import { filterNode } from '../../../webhook/leader/nominate/filters.ts';
import { toPendingPod } from '../../../webhook/leader/nominate/pending-pod.ts';
import { growsLinearly, many, on } from '../../support/hostile-work.ts';
import { node, waiting } from '../leader/nominate/support.ts';
import { metadata, taint, toleration } from './inputs.ts';

const openGate: Gate = () => ({ blocker: undefined, onePod: false });
const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'x', uid: 'x' };

growsLinearly('steering', [
  [
    'toPendingPod: tolerations',
    on((size) => ({ metadata, spec: { tolerations: many(size, toleration) } }), toPendingPod),
  ],
  [
    'toPendingPod: volumes',
    on(
      (size) => ({
        metadata,
        spec: {
          volumes: many(size, (index) => ({
            name: `v${index}`,
            persistentVolumeClaim: { claimName: `c${index}` },
          })),
        },
      }),
      toPendingPod,
    ),
  ],
  [
    'toPendingPod: owners',
    on(
      (size) => ({ metadata: { ...metadata, ownerReferences: many(size, () => ({ ...owner })) }, spec: {} }),
      toPendingPod,
    ),
  ],
  [
    'filterNode',
    on(
      (size) =>
        [
          waiting('a', { tolerations: many(size, toleration) }),
          node('n1', { taints: many(size, taint) }),
        ] as const,
      ([pod, there]) => filterNode(pod, there, openGate, undefined),
    ),
  ],
]);
