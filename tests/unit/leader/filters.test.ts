import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { filterNode } from '../../../webhook/leader/filters.ts';
import type { PendingPod } from '../../../webhook/leader/nominate/pending-pod.ts';
import type { NodeFacts } from '../../../webhook/nodes/readiness/facts.ts';
import { gateWithout, node, waiting } from './nominate/support.ts';

const gate = gateWithout('n1');

const taint = { key: 'a', effect: 'NoSchedule' };
const zone = { 'topology.kubernetes.io/zone': 'a' };

suite('a node', () => {
  const cases: [
    what: string,
    there: Partial<NodeFacts>,
    pod: Partial<PendingPod>,
    reason: string | undefined,
  ][] = [
    ['that fits', {}, {}, undefined],
    ['that is not ready', { name: 'n1' }, {}, 'notReady'],
    ['with a taint', { taints: [taint] }, {}, 'taints'],
    [
      'with a taint that the pod tolerates',
      { taints: [taint] },
      { tolerations: [{ key: 'a', operator: 'Exists' }] },
      undefined,
    ],
    ['that is cordoned', { unschedulable: true }, {}, 'taints'],
    ['outside the node selector', {}, { constraints: { nodeSelector: { pool: 'a' } } }, 'selector'],
    ['that is too small', {}, { requests: { cpu: 1001 } }, 'tooSmall'],
    ['without the device', {}, { requests: { gpu: 1 } }, 'tooSmall'],
    ['in another zone', { labels: {} }, {}, 'zone'],
  ];
  for (const [what, there, pod, reason] of cases) {
    test(`${what}: ${reason ?? 'passes'}`, () => {
      const facts = node('n2', { labels: zone, ...there });
      assert.equal(filterNode(waiting('web', pod), facts, gate, 'a'), reason);
    });
  }
});
