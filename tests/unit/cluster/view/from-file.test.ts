import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { parseClusterState, viewOfFile, viewOfFlag } from '../../../../webhook/cluster/view/from-file.ts';
import { folderWith } from '../../../support/folder.ts';

test('a view from a file is ready and complete immediately, and one from a flag knows no nodes', async (t) => {
  const pod = '{kind: Pod, metadata: {name: a, namespace: shop}, spec: {containers: []}}';
  const file = join(folderWith(t, { 'cluster.yaml': pod }), 'cluster.yaml');
  const view = viewOfFile(file, undefined, { onReload: () => {}, onError: () => {} });
  t.after(() => view.close());
  assert.deepEqual([view.unready(), view.unsynced()], [undefined, undefined]);
  assert.deepEqual(
    Array.from(view.pending(), ({ name }) => name),
    ['a'],
  );
  const ofFlag = viewOfFlag('cilium');
  const daemonSet = { namespace: 'kube-system', name: 'cilium' };
  assert.deepEqual([ofFlag.unready(), ofFlag.notSynced(daemonSet)], [undefined, true]);
});

test('a label of a Namespace is a string, or null, which means an empty one', () => {
  const namespace = (labels: string) =>
    parseClusterState(
      `apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: ${labels}}\n`,
      'state.yaml',
    );
  const { namespaces } = namespace('{a: b, c: , "__proto__": x}');
  assert.deepEqual(namespaces.get('shop'), JSON.parse('{"a": "b", "c": "", "__proto__": "x"}'));
  for (const labels of ['{a: 1}', '[a]']) {
    assert.throws(() => namespace(labels), {
      code: 'CNI_GATE_STATE_INVALID',
      message: 'state.yaml: Namespace shop does not have the form that the API server writes',
    });
  }
});
