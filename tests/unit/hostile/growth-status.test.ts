import { profileLabel } from '../../../webhook/lib/names.ts';
import { pickPod } from '../../../webhook/report/facts/pick-pod.ts';
import { countProofs } from '../../../webhook/report/facts/proof.ts';
import { layTable } from '../../../webhook/report/text/table.ts';
import { coverageFindings } from '../../../webhook/review/findings/coverage.ts';
import { workloadKeys } from '../../../webhook/review/findings/keys.ts';
import { growsLinearly, many, map, on, onText } from '../../support/hostile-work.ts';
import { condition, containers, denied, metadata, policy } from './inputs.ts';

/** A pod that `review` found in a manifest. */
const podOfReview = {
  document: { file: 'f' },
  line: 1,
  podPath: [],
  path: [],
  kind: 'Pod',
  name: 'a',
  namespace: 'shop',
} as never;

const keep = { policy, ownNamespace: 'cni-gate' };

growsLinearly('status and review', [
  [
    'pickPod',
    onText(
      (text) => pickPod({ metadata, spec: { containers }, status: condition(text) } as never, keep),
      denied,
      '',
      'CNI_GATE_NODE_NOT_READY',
    ),
  ],
  [
    'countProofs',
    on((size) => many(size, (index) => ({ namespace: `ns${index}`, proof: 'passed' as const })), countProofs),
  ],
  [
    'layTable',
    on(
      (size) => many(size, (index) => [`row ${index}`, 'a '.repeat(60)]),
      (rows) => layTable(['NAME', 'WHY'], rows, 100, 1),
    ),
  ],
  [
    'workloadKeys',
    on(
      (size) => map(size, () => 'x'),
      (labels) => workloadKeys({ metadata: { labels } }, [podOfReview]),
    ),
  ],
  [
    'workloadKeys: keys like ours',
    on(
      (size) => Object.fromEntries(many(size, (index) => [`cni-gate.io/profil${index}`, 'x'])),
      (labels) => workloadKeys({ metadata: { labels } }, [podOfReview]),
    ),
  ],
  [
    'coverageFindings',
    on(
      (size) =>
        [
          many(size, (index) => ({
            workload: { namespace: `ns${index}`, document: { file: 'f' }, line: 1 },
            verdict: { outcome: 'skipped', reason: 'no-profile-applies' },
          })),
          new Map(
            many(size, (index) => [
              `ns${index}`,
              { labels: { [profileLabel]: 'cilium' }, file: 'f', line: 1, at: { path: [] } },
            ]),
          ),
        ] as unknown as [Parameters<typeof coverageFindings>[0], Parameters<typeof coverageFindings>[1]],
      ([reviewed, known]) => coverageFindings(reviewed, known, 'labels', undefined),
    ),
  ],
]);
