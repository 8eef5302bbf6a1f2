import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { NodeSelectorTerm, Taint } from '../../../../webhook/core/facts/api.ts';
import { matchesNode } from '../../../../webhook/core/scheduling/constraints.ts';
import { wantsDaemonPod } from '../../../../webhook/core/scheduling/daemon.ts';
import { requiring } from '../../../support/affinity.ts';

const node = { name: 'n1', labels: { zone: 'a', size: '8', 'kubernetes.io/os': 'linux' } };
const required = (...terms: NodeSelectorTerm[]) => ({ affinity: requiring(...terms) });
const field = (key: string, operator: string, ...values: string[]) =>
  required({ matchFields: [{ key, operator, values }] });
const expression = (key: string, operator: string, ...values: string[]): NodeSelectorTerm => ({
  matchExpressions: [{ key, operator, values }],
});

suite('which nodes a pod selects', () => {
  const cases: [what: string, constraints: Parameters<typeof matchesNode>[0], wanted: boolean][] = [
    ['nothing asked', {}, true],
    ['no requirements, written as null', { nodeSelector: null, affinity: null }, true],
    ['a selector that holds', { nodeSelector: { zone: 'a' } }, true],
    ['a selector of which one half matches', { nodeSelector: { zone: 'a', size: '9' } }, false],
    ['a selector on a name of the prototype', { nodeSelector: { constructor: 'a' } }, false],
    ['In', required(expression('zone', 'In', 'b', 'a')), true],
    ['In, none of them', required(expression('zone', 'In', 'b')), false],
    ['NotIn', required(expression('zone', 'NotIn', 'b')), true],
    ['NotIn, the key absent', required(expression('rack', 'NotIn', 'b')), true],
    ['Exists', required(expression('zone', 'Exists')), true],
    ['DoesNotExist', required(expression('zone', 'DoesNotExist')), false],
    ['Gt', required(expression('size', 'Gt', '7')), true],
    ['Gt, equal', required(expression('size', 'Gt', '8')), false],
    ['Lt', required(expression('size', 'Lt', '10')), true],
    ['Lt of a value that is not a number', required(expression('zone', 'Lt', '10')), false],
    ['Gt, signed and with leading zeros', required(expression('size', 'Gt', '+007')), true],
    ['Lt the largest number of 64 bits', required(expression('size', 'Lt', '9223372036854775807')), true],
    [
      'Lt a number of 100 digits, which is not read',
      required(expression('size', 'Lt', '9'.padStart(100, '0'))),
      false,
    ],
    ['an operator that is not known', required(expression('zone', 'Like', 'a')), false],
    ['one of two terms', required(expression('zone', 'In', 'b'), expression('size', 'Exists')), true],
    ['a term that names nothing', required({}), false],
    ['no terms', required(), false],
    ['the name of the node', field('metadata.name', 'In', 'n1'), true],
    ['not this node', field('metadata.name', 'NotIn', 'n1'), false],
    ['a field that is not known', field('status.phase', 'Exists'), false],
    [
      'a selector and an affinity, of which one matches',
      { nodeSelector: { zone: 'a' }, ...required(expression('zone', 'In', 'b')) },
      false,
    ],
  ];
  for (const [what, constraints, wanted] of cases)
    test(what, () => assert.equal(matchesNode(constraints, node), wanted));
});

const tainted = (...taints: Taint[]) => ({ name: 'n1', labels: {}, taints });
const taint = (key: string, effect: string, value?: string): Taint => ({
  key,
  effect,
  ...(value !== undefined && { value }),
});

suite('whether a DaemonSet selects a node', () => {
  test('a taint that the kubelet or the node controller sets does not repel its pods', () => {
    for (const [key, effect] of [
      ['node.kubernetes.io/unreachable', 'NoExecute'],
      ['node.kubernetes.io/disk-pressure', 'NoSchedule'],
    ] as const) {
      assert.equal(wantsDaemonPod({}, tainted(taint(key, effect))), true, key);
    }
  });

  test('a node without a network accepts only pods on the host network', () => {
    const without = tainted(taint('node.kubernetes.io/network-unavailable', 'NoSchedule'));
    assert.equal(wantsDaemonPod({}, without), false);
    assert.equal(wantsDaemonPod({ hostNetwork: true }, without), true);
  });

  test('other taints repel its pods, unless they tolerate each', () => {
    const both = tainted(taint('gpu', 'NoSchedule', 'yes'), taint('spot', 'NoExecute'));
    const tolerates = (...tolerations: object[]) => wantsDaemonPod({ tolerations }, both);
    assert.equal(tolerates(), false);
    assert.equal(tolerates({ operator: 'Exists' }), true);
    assert.equal(tolerates({ key: 'gpu', value: 'yes' }), false);
    assert.equal(tolerates({ operator: 'Exists' }, { key: 'gpu', operator: 'Like' }), true);
    assert.equal(tolerates({ key: 'gpu', operator: 'Like', value: 'yes' }, { key: 'spot' }), false);
    assert.equal(tolerates({ key: 'gpu', value: 'yes' }, { key: 'spot', operator: 'Exists' }), true);
    assert.equal(tolerates({ key: 'gpu', value: 'no' }, { key: 'spot', operator: 'Exists' }), false);
    const onlySchedule = { key: 'spot', operator: 'Exists', effect: 'NoSchedule' };
    assert.equal(tolerates({ key: 'gpu', operator: 'Exists' }, onlySchedule), false);
    assert.equal(wantsDaemonPod({}, tainted(taint('slow', 'PreferNoSchedule'))), true);
  });
});
