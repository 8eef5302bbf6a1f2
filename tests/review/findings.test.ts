import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { exitCodeOf } from '../../webhook/review/model.ts';
import { flagsOf, manifests, type TableCase, tables } from './manifests.ts';
import { namespaceOf, pod, reviewFiles, reviewText } from './support.ts';

const { keys, likeOurs, others, jobs, kinds, 'opt-in': optIn } = tables('findings.yaml');

/** Reviews the manifests of a case, and asserts that the results are as the case expects. */
async function holds(t: TestContext, one: TableCase): Promise<void> {
  const { findings, reported, report, summary, faults } = await reviewText(
    t,
    manifests(one.in),
    flagsOf(one),
  );
  const { finds = [], says = '' } = one;
  assert.deepEqual([findings, faults], [finds, []]);
  assert.ok((report.findings[0]?.message ?? '').includes(says), report.findings[0]?.message);
  if (one.reported !== undefined) assert.deepEqual(reported, one.reported);
  const refused = summary.refused > 0;
  assert.equal(exitCodeOf(summary, true), refused || finds.length > 0 ? 1 : 0);
  assert.equal(exitCodeOf(summary, false), refused ? 1 : 0);
}

const inShop = (one: TableCase, ...more: string[]): TableCase => ({
  ...one,
  in: ['Namespace shop cilium', ...more, ...one.in],
});

const suites: [title: string, cases: TableCase[]][] = [
  ['labels and annotations like those of cni-gate', keys],
  ['what opts in', optIn],
  ['Jobs that count failed proofs', jobs.map((one: TableCase) => inShop(one))],
  ['objects of unknown kinds', kinds.map((one: TableCase) => inShop(one, 'Pod b'))],
];
for (const [title, cases] of suites) {
  suite(title, () => {
    for (const one of cases) test(one.title, (t) => holds(t, one));
  });
}

test('keys similar to ours are findings, keys of others are not', async (t) => {
  const found = async (key: string): Promise<string[]> =>
    (await reviewText(t, manifests([{ labels: { [key]: 'cilium' } }]), { profile: 'cilium' })).findings;
  for (const key of likeOurs) assert.deepEqual(await found(key), ['KEY_UNKNOWN Deployment shop/web'], key);
  for (const key of others) assert.deepEqual(await found(key), [], key);
});

test('an earlier injection is no finding, and its label counts only with that of the namespace', async (t) => {
  const before = (await reviewText(t, pod('a'), { profile: 'cilium' })).yaml();
  const { findings, reported } = await reviewText(t, before, { profile: 'cilium' });
  assert.deepEqual([findings, reported], [[], ['current profile-applies Pod shop/a']]);
  const bare = manifests(['Namespace shop', 'Namespace tools cilium', 'Pod b tools']);
  const there = await reviewText(t, `${bare}---\n${before}`);
  assert.deepEqual(there.findings, []);
  assert.equal(there.reported[1], 'skipped not-opted-in Pod shop/a');
  assert.ok(there.yaml().endsWith(before));
});

test('a finding has the line of the label, annotation or field that it is about', async (t) => {
  const job = `apiVersion: batch/v1
kind: Job
metadata:
  name: once
  namespace: shop
spec:
  template:
    metadata:
      annotations:
        a: b
        cni-gate.io/profile: none
    spec:
      containers: [{name: app, image: app}]
      restartPolicy: Never
`;
  const items = job.replace(/^/gm, '  ').replace('  ', '- ').trimEnd();
  const labels = { 'cni-gate.io/x': '' };
  const { json } = await reviewFiles(t, {
    'a.yaml': `# shop\n---\n${namespaceOf('shop', 'cilium')}---\n${job}`,
    'b.json': JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: { labels } }, null, 2),
    'c.yaml': `apiVersion: v1\nkind: List\nitems:\n${items}\n`,
  });
  const { findings, summary } = json();
  assert.deepEqual(
    findings.map(({ code, file, line }) => [file.slice(-6), line, code]),
    [
      ['a.yaml', 20, 'CNI_GATE_KEY_UNKNOWN'],
      ['b.json', 1, 'CNI_GATE_KEY_UNKNOWN'],
      ['c.yaml', 14, 'CNI_GATE_KEY_UNKNOWN'],
      ['a.yaml', 23, 'CNI_GATE_JOB_COUNTS_PROOF'],
      ['c.yaml', 17, 'CNI_GATE_JOB_COUNTS_PROOF'],
    ],
  );
  assert.equal(summary.findings, 5);
  assert.ok(findings.every((finding) => !('workload' in finding)));
});
