import assert from 'node:assert/strict';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { readPolicy } from '../../webhook/config/file.ts';
import { cniGate } from '../support/command.ts';
import { namespaceOf, pod, reviewNames, reviewText, unwrapped } from './support.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

const host = pod('host').replace('spec:', 'spec:\n  hostNetwork: true');
const refused = pod('wrong').replace('metadata:', 'metadata:\n  labels: {cni-gate.io/profile: nowhere}');

/** The summary without the files, for which there is no limit. */
const withoutFiles = (table: string): string => table.replaceAll(/ {2,}(?:FILE|\S+:\d+)$/gm, '');

test('the summary: a line for each workload, then messages, then totals', async (t) => {
  const text = [namespaceOf('shop', 'cilium.multus'), pod('a'), host, refused, pod('b', 'tools')];
  const { table, summary } = await reviewText(t, `${text.join('---\n')}---\nkind: Service\napiVersion: v1\n`);
  const lines = unwrapped(table().replaceAll(/\/\S*(?=:\d+)/g, 'f')).split('\n');
  assert.deepEqual(lines, [
    'OUTCOME   KIND/NAME  NAMESPACE  CHECKS OR REASON          FILE',
    'injected  Pod/a      shop       address, gateway          f:8',
    'skipped   Pod/host   shop       host-network              f:18',
    'refused   Pod/wrong  shop       CNI_GATE_PROFILE_UNKNOWN  f:29',
    'skipped   Pod/b      tools      namespace-not-given       f:40',
    '',
    'refused Pod shop/wrong (f:32): profile "nowhere" does not exist; the configuration has: aws-vpc-cni, cilium, istio-ambient, istio, linkerd, multus (CNI_GATE_PROFILE_UNKNOWN)',
    'warning Namespace tools (f:44): is not in the input, and its labels select the checks of 1 workload: add it to the input, set another with -n for objects that name none, or use --profile (CNI_GATE_NAMESPACE_NOT_GIVEN)',
    'reviewed 4 workloads: 1 injected, 2 skipped (host-network 1, namespace-not-given 1), 1 refused',
    '1 warning, 1 other object (Service 1)',
    'failed',
    '',
  ]);
  const { workloads, injected, updated, current, removed, warned, skipped } = summary;
  const skips = Object.values(skipped).reduce((a, b) => a + b);
  assert.equal(injected + updated + current + removed + warned + skips + summary.refused, workloads);
});

test('a pod with an earlier injection shows its checks', async (t) => {
  const before = await reviewText(t, pod('a'), { profile: 'cilium' });
  assert.match(
    withoutFiles((await reviewText(t, before.yaml(), { profile: 'cilium' })).table()),
    /^current +Pod\/a +shop +address, gateway$/m,
  );
  assert.match(
    withoutFiles((await reviewText(t, before.yaml(), { profile: 'linkerd' })).table()),
    /^removed +Pod\/a +shop +nothing-promised$/m,
  );
});

test('no line is longer than 100 columns without its file, whatever the names are', async (t) => {
  const long = 'x'.repeat(63);
  const text = [namespaceOf(long, 'cilium.linkerd.multus'), pod(`${long}-${long}`, long), refused];
  const { table } = await reviewText(t, text.join('---\n'));
  const [head = '', row = '', short = ''] = withoutFiles(table()).split('\n');
  assert.ok(row.length > 90 && row.length <= 100);
  assert.match(row, /^injected +Pod\/x+… +x+… +address, gateway$/);
  assert.ok(head.length <= 100 && short.length <= 100);
});

test('long texts wrap at words', async (t) => {
  const text = [namespaceOf('shop', 'cilium'), refused, host.replace('shop', 'tools')].join('---\n');
  const { text: long, table } = await reviewText(t, text);
  for (const output of [long(), withoutFiles(table())]) {
    assert.match(unwrapped(output), /the configuration has: .*, multus \(CNI_GATE_PROFILE_UNKNOWN\)\n/);
    assert.deepEqual(
      output.split('\n').filter((line) => line.length > 100),
      [],
    );
  }
});

test('text and summary of the examples fit 100 columns', async () => {
  for (const profile of [undefined, 'linkerd']) {
    const admission = { policy: readPolicy(undefined), profile };
    // as it is typed in a checkout: a long path would not fit
    const names = [relative(process.cwd(), join(root, 'examples'))];
    const options = { names, namespace: 'default', admission, assumeMeshed: false };
    const { text, table } = await reviewNames(options);
    for (const output of [text(), withoutFiles(table()), text(true)]) {
      assert.ok(output.length > 500);
      assert.deepEqual(
        output.split('\n').filter((line) => line.length > 100),
        [],
      );
    }
  }
});

test('colours do not count for the width of a line', () => {
  const plain = cniGate(['review', '-f', 'examples/', '--summary'], { cwd: root }).stdout;
  const painted = cniGate(['review', '-f', 'examples/', '--summary', '--color'], { cwd: root }).stdout;
  assert.ok(painted.includes('\u001b[32minjected\u001b[39m'));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours are control characters
  assert.equal(painted.replaceAll(/\u001b\[\d+m/g, ''), plain);
});

test('--summary requires the text output', () => {
  const { status, stderr } = cniGate(['review', '-f', 'examples/', '--summary', '-o', 'json'], { cwd: root });
  assert.equal(status, 2);
  assert.match(stderr, /--summary is text: it does not go with --output json \(CNI_GATE_USAGE\)$/m);
});

test('the reason of a skipped workload is the same in text, summary, JSON and JUnit', async (t) => {
  const one = await reviewText(t, [namespaceOf('shop', 'cilium'), host, pod('a')].join('---\n'));
  assert.match(one.text(), /^skipped Pod shop\/host \(.*\): host-network$/m);
  assert.match(one.text(), /1 skipped \(host-network 1\)/);
  assert.match(withoutFiles(one.table()), /^skipped +Pod\/host +shop +host-network$/m);
  const { workloads, summary } = one.json();
  assert.deepEqual([workloads[0]?.outcome, workloads[0]?.reason], ['skipped', 'host-network']);
  assert.deepEqual(summary.skipped, { 'host-network': 1 });
  assert.match(one.junit(), /<skipped message="host-network"\/>/);
});
