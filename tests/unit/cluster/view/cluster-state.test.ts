import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseClusterState } from '../../../../webhook/cluster/view/cluster-state.ts';

const namespace = (labels: string): string =>
  `apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: ${labels}}\n`;

test('a label of a Namespace is a string, or null, which means an empty one', () => {
  const { namespaces } = parseClusterState(namespace('{a: b, c: , "__proto__": x}'), 'state.yaml');
  assert.deepEqual(namespaces.get('shop'), JSON.parse('{"a": "b", "c": "", "__proto__": "x"}'));
  assert.deepEqual(parseClusterState(namespace('~'), 'state.yaml').namespaces.get('shop'), {});
  for (const labels of ['{a: 1}', '[a]', 'a']) {
    assert.throws(() => parseClusterState(namespace(labels), 'state.yaml'), {
      code: 'CNI_GATE_STATE_INVALID',
      message: 'state.yaml: the labels of Namespace shop should be strings',
    });
  }
});
