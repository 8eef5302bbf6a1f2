import { wantsDaemonPod } from '../../../webhook/nodes/scheduling/daemon.ts';
import { selectorText } from '../../../webhook/nodes/scheduling/label-selector.ts';
import { matchesNode } from '../../../webhook/nodes/scheduling/node-selector.ts';
import { matches } from '../../../webhook/nodes/scheduling/requirement.ts';
import { toleratesAll } from '../../../webhook/nodes/scheduling/taints.ts';
import { growsLinearly, many, map, on, onText } from '../../support/hostile-work.ts';
import { taint, toleration } from './inputs.ts';

const expression = (index: number) => ({ key: `key-${index}`, operator: 'NotIn', values: ['x'] });

growsLinearly("Kubernetes' rules for nodes", [
  ['matches: digits', onText((text) => matches({ operator: 'Gt', key: 'a', values: [text] }, text), '1')],
  [
    'toleratesAll: taints and tolerations',
    on(
      (size) => [many(size, (index) => ({ ...toleration(index), value: 'v' })), many(size, taint)] as const,
      ([some, all]) => toleratesAll(some, all),
    ),
  ],
  [
    'toleratesAll: of one key',
    on(
      (size) =>
        [
          many(size, (index) => ({ key: 'k', value: `${index}` })),
          many(size, (index) => ({ ...taint(0), key: 'k', value: `${index}` })),
        ] as const,
      ([some, all]) => toleratesAll(some, all),
    ),
  ],
  [
    'wantsDaemonPod',
    on(
      (size) => ({ tolerations: many(size, toleration) }),
      (template) => wantsDaemonPod(template, { name: 'n1', labels: {}, taints: many(100, taint) }),
    ),
  ],
  [
    'matchesNode',
    on(
      (size) => ({
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: many(size, (index) => ({
                matchExpressions: [{ ...expression(index), operator: 'In' }],
              })),
            },
          },
        },
      }),
      (constraints) => matchesNode(constraints, { name: 'n1', labels: map(10, () => 'x') }),
    ),
  ],
  [
    'selectorText',
    on(
      (size) => ({ matchLabels: map(size, () => 'x'), matchExpressions: many(size, expression) }),
      selectorText,
    ),
  ],
]);
