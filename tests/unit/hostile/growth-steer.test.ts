import { Candidates } from '../../../webhook/steer/candidates.ts';
import { History } from '../../../webhook/steer/history.ts';
import { LongHolds } from '../../../webhook/steer/long-holds.ts';
import { misfitOf } from '../../../webhook/steer/misfit.ts';
import { NodeUsageCounter, takenWith } from '../../../webhook/steer/node-usage.ts';
import { toPendingPod } from '../../../webhook/steer/pending-pod.ts';
import { Work as Steps, withoutPauses } from '../../../webhook/steer/work.ts';
import { growsLinearly, many, on } from '../../support/hostile-work.ts';
import { clusterWith } from '../gate/support.ts';
import { now } from '../readiness/objects.ts';
import { byUid, node, usage, waiting } from '../steer/support.ts';
import { metadata, policy, requests, taint, toleration } from './inputs.ts';

const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'x', uid: 'x' };

const placedPod = (index: number) => ({
  metadata: { ...metadata, uid: `u${index}` },
  spec: { containers: [requests(index)] },
});

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
    'NodeUsageCounter',
    on(
      (size) => many(size, placedPod),
      (pods) => {
        const counter = new NodeUsageCounter();
        for (const pod of pods) counter.add(pod);
        return counter.usage(now);
      },
    ),
  ],
  [
    'takenWith',
    on(
      (size) =>
        many(size, (index) => ({
          uid: `u${index}`,
          node: 'n1',
          group: `g${index}`,
          requests: { [`r${index}`]: 1 },
          leftAt: undefined,
        })),
      (expected) => takenWith(usage({}), expected),
    ),
  ],
  [
    'misfitOf',
    on(
      (size) =>
        [
          waiting('a', { tolerations: many(size, toleration) }),
          node('n1', { taints: many(size, taint) }),
        ] as const,
      ([pod, there]) => misfitOf(pod, there),
    ),
  ],
  [
    'Candidates',
    on(
      (size) => many(size, (index) => node(`n${index}`)),
      (nodes) =>
        withoutPauses(
          new Candidates(nodes, () => true, 0, new Steps()).for(waiting('a', { requests: { gpu: 1 } })),
        ),
    ),
  ],
  [
    'History: pods that only the scheduler can judge',
    on(
      (size) => many(size, (index) => waiting(`p${index}`, { group: `g${index % 10}`, unverifiable: true })),
      (pods) => {
        const history = new History();
        for (const pod of pods) {
          history.width(pod);
          history.made({ pod, node: 'n1' }, '1', now);
        }
        return history.observe(byUid(...pods.slice(0, 5)), now);
      },
    ),
  ],
  [
    'LongHolds',
    on(
      (size) => many(size, (index) => waiting(`p${index}`, { heldSince: 1 })),
      (pods) =>
        new LongHolds().due(
          pods,
          { policy, readiness: clusterWith({ n1: { ready: false } }), unsteered: undefined },
          now,
          10,
        ),
    ),
  ],
]);
