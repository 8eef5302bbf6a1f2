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

test('a label of a Namespace is a string; null means an empty one', () => {
  const text = 'kind: Namespace\nmetadata: {name: shop, labels: {a: b, c: , d: 1, "__proto__": x}}\n';
  const { namespaces } = parseClusterState(text, 'state.yaml');
  assert.deepEqual(namespaces.get('shop'), JSON.parse('{"a": "b", "c": "", "d": "1", "__proto__": "x"}'));
});

test('an object in another form is an error', () => {
  assert.throws(() => parseClusterState('kind: Pod\nmetadata: {name: a}\n', 'state.yaml'), {
    code: 'CNI_GATE_STATE_INVALID',
    message: 'state.yaml: Pod a does not have the form that the API server writes',
  });
});
