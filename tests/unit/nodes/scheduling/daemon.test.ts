import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Taint } from '../../../../webhook/nodes/scheduling/constraints.ts';
import { wantsDaemonPod } from '../../../../webhook/nodes/scheduling/daemon.ts';

const node = (...taints: Taint[]) => ({ name: 'n1', labels: {}, taints });
const taint = (key: string, effect: string, value?: string): Taint => ({
  key,
  effect,
  ...(value !== undefined && { value }),
});

suite('whether a DaemonSet wants a node', () => {
  test('a taint that the kubelet or the node controller sets does not keep it away', () => {
    for (const [key, effect] of [
      ['node.kubernetes.io/unreachable', 'NoExecute'],
      ['node.kubernetes.io/disk-pressure', 'NoSchedule'],
    ] as const) {
      assert.equal(wantsDaemonPod({}, node(taint(key, effect))), true, key);
    }
  });

  test("a node without a network takes only those on the node's own", () => {
    const without = node(taint('node.kubernetes.io/network-unavailable', 'NoSchedule'));
    assert.equal(wantsDaemonPod({}, without), false);
    assert.equal(wantsDaemonPod({ hostNetwork: true }, without), true);
  });

  test('other taints keep it away, unless it tolerates each', () => {
    const both = node(taint('gpu', 'NoSchedule', 'yes'), taint('spot', 'NoExecute'));
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
    assert.equal(wantsDaemonPod({}, node(taint('slow', 'PreferNoSchedule'))), true);
  });

  test('a template that names its node wants that one and no other', () => {
    assert.equal(wantsDaemonPod({ nodeName: 'n1' }, node()), true);
    assert.equal(wantsDaemonPod({ nodeName: 'n2' }, node()), false);
  });

  test('its node selector decides as well', () => {
    assert.equal(wantsDaemonPod({ nodeSelector: { pool: 'a' } }, node()), false);
  });
});
