import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { parseClusterState } from '../../../../webhook/cluster/view/cluster-state.ts';
import { viewOfFile, viewOfFlag } from '../../../../webhook/cluster/view/from-file.ts';

const pod = (name: string): string =>
  `{kind: Pod, metadata: {name: ${name}, namespace: shop}, spec: {containers: []}}\n`;

/** A view of a file that is polled every 5 ms, and a function that writes the file and waits for the reload. */
function viewOf(t: TestContext, text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  const file = join(folder, 'cluster.yaml');
  writeFileSync(file, text);
  let reloaded = (): void => {};
  const view = viewOfFile(file, undefined, {
    interval: 5,
    onReload: () => reloaded(),
    onError: (error) => assert.fail(String(error)),
  });
  t.after(async () => {
    await view.close();
    rmSync(folder, { recursive: true });
  });
  const write = (next: string): Promise<void> =>
    new Promise((resolve) => {
      reloaded = resolve;
      writeFileSync(file, next);
    });
  return { view, write };
}

test('a reload replaces what is known', async (t) => {
  const { view, write } = viewOf(t, pod('a'));
  const names = () => Array.from(view.pending(), ({ name }) => name);
  assert.deepEqual(names(), ['a']);
  await write(pod('bb'));
  assert.deepEqual(names(), ['bb']);
});

test('a view of a file is ready and complete at once, and one of the flag knows no nodes', async (t) => {
  const { view } = viewOf(t, pod('a'));
  await view.whenSynced();
  assert.deepEqual([view.unready(), view.unsynced()], [undefined, undefined]);
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
      message: 'state.yaml: the labels of Namespace shop should be strings',
    });
  }
});
