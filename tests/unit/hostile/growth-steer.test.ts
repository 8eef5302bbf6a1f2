import { Candidates } from '../../../webhook/steer/candidates.ts';
import { fingerprintOf } from '../../../webhook/steer/fingerprint.ts';
import { History } from '../../../webhook/steer/history.ts';
import { LongHolds } from '../../../webhook/steer/long-holds.ts';
import { misfitOf } from '../../../webhook/steer/misfit.ts';
import { isUnsatisfiable, pickNeighbours } from '../../../webhook/steer/neighbours.ts';
import { takenWith, usageOf } from '../../../webhook/steer/node-usage.ts';
import { toPendingPod } from '../../../webhook/steer/pending-pod.ts';
import { Work as Steps, withoutPauses } from '../../../webhook/steer/work.ts';
import { growsLinearly, many, on } from '../../support/hostile-work.ts';
import { clusterWith } from '../gate/support.ts';
import { now } from '../readiness/objects.ts';
import { byUid, node, usage, waiting } from '../steer/support.ts';
import { expression, metadata, policy, requests, taint, toleration } from './inputs.ts';

const placedPod = (index: number) => ({
  metadata: { ...metadata, uid: `u${index}` },
  spec: { containers: [requests(index)] },
});

growsLinearly('steering', [
  [
    'pickWaiting: tolerations',
    on((size) => ({ metadata, spec: { tolerations: many(size, toleration) } }), toPendingPod),
  ],
  [
    'pickWaiting: volumes',
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
    'pickWaiting: owners',
    on(
      (size) => ({ metadata: { ...metadata, ownerReferences: many(size, () => ({ uid: 'x' })) }, spec: {} }),
      toPendingPod,
    ),
  ],
  [
    'pickNeighbours',
    on(
      (size) => ({
        topologySpreadConstraints: many(size, (index) => ({
          topologyKey: 'kubernetes.io/hostname',
          labelSelector: { matchExpressions: [expression(index)] },
          matchLabelKeys: ['a', 'b'],
        })),
      }),
      (spec) => pickNeighbours(spec, 'shop', { a: 'x' }),
    ),
  ],
  [
    'isHopeless: pods on a node',
    on(
      (size) =>
        new Map(many(size, (index) => [`u${index}`, { namespace: 'shop', labels: {}, leaving: false }])),
      (placed) =>
        isUnsatisfiable(
          {
            namespace: 'shop',
            neighbours: pickNeighbours(
              {
                topologySpreadConstraints: many(10, (index) => ({
                  topologyKey: 'kubernetes.io/hostname',
                  maxSkew: 1,
                  labelSelector: { matchLabels: { a: `${index}` } },
                })),
              },
              'shop',
              {},
            ),
          },
          placed,
          placed,
        ),
    ),
  ],
  [
    'roomOf',
    on(
      (size) => many(size, placedPod),
      (pods) => usageOf(pods, now),
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
    'lookOf',
    on(
      (size) => usageOf(many(size, placedPod), now),
      (there) => fingerprintOf(node('n1'), there),
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
    'History: pods whose place only the scheduler knows',
    on(
      (size) => many(size, (index) => waiting(`p${index}`, { group: `g${index % 10}`, unverifiable: true })),
      (pods) => {
        const history = new History();
        for (const pod of pods) {
          history.width(pod);
          history.made({ pod, node: 'n1', fingerprint: '' }, '1', now);
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
