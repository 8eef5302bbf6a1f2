import assert from 'node:assert/strict';
import { test } from 'node:test';
import { distance } from '../../webhook/lib/nearest.ts';
import { exitCodeOf } from '../../webhook/review/summary.ts';
import { recorded } from '../support/reviews.ts';
import { namespaceOf, pod, reviewFiles, reviewText } from './support.ts';

/** A Deployment with metadata of its own and of its template. */
const deployment = (own: object, template: object): string =>
  JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'shop', ...own },
    spec: { template: { metadata: template, spec: { containers: [{ name: 'app', image: 'app:1' }] } } },
  });

const labels = (key: string, value = 'cilium'): object => ({ labels: { [key]: value } });
const annotations = (key: string): object => ({ annotations: { [key]: 'x' } });

const wrong: [what: string, text: string, subject: string, message: RegExp][] = [
  [
    'an unknown label of a Namespace',
    namespaceOf('shop', 'cilium').replace('cni-gate.io/profile', 'cni-gate.io/profiles'),
    'Namespace shop',
    /^label cni-gate\.io\/profiles is unknown and has no effect: did you mean cni-gate\.io\/profile\?$/,
  ],
  [
    'an unknown label of a template',
    deployment({}, labels('cni-gate.io/porfile', 'none')),
    'Deployment shop/web',
    /did you mean cni-gate\.io\/profile\?$/,
  ],
  [
    'an unknown label of a workload',
    deployment(labels('cni-gate.io/Profile'), {}),
    'Deployment shop/web',
    /did you mean cni-gate\.io\/profile\?$/,
  ],
  [
    'a key that is like none',
    deployment({}, annotations('cni-gate.io/skip-this-pod')),
    'Deployment shop/web',
    /^annotation cni-gate\.io\/skip-this-pod is unknown and has no effect: users set the label/,
  ],
  [
    'a prefix with a letter missing',
    deployment({}, labels('cnigate.io/profile')),
    'Deployment shop/web',
    /did you mean cni-gate\.io\/profile\?$/,
  ],
  ...[
    'cni-gate/profile',
    'cnigate/profile',
    'cni-gate.dev/profile',
    'profile.cni-gate.io',
    'CNI-GATE.io/profile',
    'www.cni-gate.io/profile',
    'cni-gate-profile',
    'cni-gate.io.profile',
    'cni_gate.io/profile',
    'www.cni-gate.internal.platform.example.com/profile',
    'cni-gate.example.com/Profiles',
  ].map((key): (typeof wrong)[number] => [
    key,
    deployment({}, labels(key)),
    'Deployment shop/web',
    /did you mean cni-gate\.io\/profile\?$/,
  ]),
  [
    'the name as a label of a Namespace',
    namespaceOf('shop', 'cilium').replace('cni-gate.io/profile', 'cni-gate/profile'),
    'Namespace shop',
    /did you mean cni-gate\.io\/profile\?$/,
  ],
  [
    'the label as an annotation',
    deployment({}, annotations('cni-gate.io/profile')),
    'Deployment shop/web',
    /is a label, so move it to metadata\.labels$/,
  ],
  [
    'the label on the workload alone',
    deployment(labels('cni-gate.io/profile', 'none'), {}),
    'Deployment shop/web',
    /on the Deployment itself has no effect: put it on the pods, in spec\.template\.metadata\.labels$/,
  ],
  [
    'an unknown label of a pod',
    pod('a').replace('metadata:', 'metadata:\n  labels: {cni-gate.io/profil: none}'),
    'Pod shop/a',
    /did you mean cni-gate\.io\/profile\?$/,
  ],
];

for (const [what, text, subject, message] of wrong) {
  test(`a key that has no effect is found: ${what}`, async (t) => {
    const { report, summary } = await reviewText(t, text, { profile: 'cilium' });
    assert.deepEqual(
      report.findings.map((finding) => [finding.code, finding.subject]),
      [['CNI_GATE_KEY_UNKNOWN', subject]],
    );
    assert.match(report.findings[0]?.message ?? '', message);
    assert.deepEqual([exitCodeOf(summary, true), exitCodeOf(summary, false)], [1, 0]);
  });
}

const right: [what: string, text: string][] = [
  ['the label', deployment({}, labels('cni-gate.io/profile'))],
  [
    'the label on workload and template',
    deployment(labels('cni-gate.io/profile'), labels('cni-gate.io/profile')),
  ],
  ['what an injection wrote', deployment({}, annotations('cni-gate.io/status'))],
  ['the label of the certificates', deployment(labels('cni-gate.io/certificates', 'managed'), {})],
  ["somebody else's keys", deployment({}, labels('example.com/profile'))],
  ...[
    'cni-gateway.io/profile',
    'cni-gateway/profile',
    'gate.io/profile',
    'cni.example.com/profile',
    'app.example.com/cni-gate',
    'cni-gate.example.com/team',
    'cni-gate.example.com/state',
    'cni-gate-version',
    'profile',
    'cni-gate',
    'seccomp.security.alpha.kubernetes.io/pod',
    'cni.projectcalico.org/profile',
  ].map((key): (typeof right)[number] => [`somebody else's ${key}`, deployment({}, labels(key))]),
  ['a long key', deployment({}, annotations(`example.com/${'x'.repeat(60)}`))],
  ['no metadata', deployment({}, null as unknown as object)],
  ['a Namespace', namespaceOf('shop', 'cilium')],
];

for (const [what, text] of right) {
  test(`nothing is found: ${what}`, async (t) => {
    assert.deepEqual((await reviewText(t, text, { profile: 'cilium' })).findings, []);
  });
}

test('an earlier injection is no finding', async (t) => {
  const before = await reviewText(t, deployment({}, {}), { profile: 'cilium' });
  const { findings, reported } = await reviewText(t, before.yaml(), { profile: 'cilium' });
  assert.deepEqual(findings, []);
  assert.deepEqual(reported, ['current promised Deployment shop/web']);
});

test('the edit distance of two keys', () => {
  assert.equal(distance('', 'abc'), 3);
  assert.equal(distance('abc', 'abc'), 0);
  assert.equal(distance('porfile', 'profile'), 1);
  assert.equal(distance('profle', 'profile'), 1);
  assert.equal(distance('profiles', 'profile'), 1);
  assert.equal(distance('kitten', 'sitting'), 3);
});

const host = pod('host').replace('spec:', 'spec:\n  hostNetwork: true');

test('an opted-in namespace without any check is a finding with the reasons', async (t) => {
  const text = [
    namespaceOf('shop', 'linkerd'),
    pod('a'),
    host,
    pod('b', 'tools'),
    namespaceOf('tools', 'cilium'),
  ];
  const { report, summary, findings } = await reviewText(t, text.join('---\n'));
  assert.deepEqual(findings, ['NOTHING_CHECKED Namespace shop']);
  assert.match(
    report.findings[0]?.message ?? '',
    /^opted in to profile linkerd, and none of its 2 workloads in the input gets a check \(nothing-promised 1, host-network 1\): /,
  );
  assert.equal(report.findings[0]?.line, 6);
  assert.deepEqual([exitCodeOf(summary, true), exitCodeOf(summary, false)], [1, 0]);
});

test('one checked or refused workload: no finding', async (t) => {
  const one = [namespaceOf('shop', 'cilium'), pod('a'), host].join('---\n');
  assert.deepEqual((await reviewText(t, one)).findings, []);
  const refused = await reviewText(t, [namespaceOf('shop', 'nowhere'), pod('a')].join('---\n'));
  assert.deepEqual(refused.findings, []);
  assert.equal(refused.summary.refused, 1);
});

test('a Namespace twice with different labels is a finding; with the same labels it is not', async (t) => {
  const namespace = namespaceOf('shop', 'cilium');
  const unlabelled = namespace.replace('cni-gate.io/profile', 'example.com/team');
  const { findings, report, summary } = await reviewText(t, [namespace, unlabelled, pod('a')].join('---\n'));
  assert.deepEqual(findings, ['NAMESPACE_TWICE Namespace shop']);
  assert.match(
    report.findings[0]?.message ?? '',
    /^is twice in the input: with cni-gate\.io\/profile=cilium in .*:1, and here without label cni-gate\.io\/profile, which counts/,
  );
  assert.deepEqual([exitCodeOf(summary, true), exitCodeOf(summary, false)], [1, 0]);
  assert.deepEqual((await reviewText(t, [namespace, namespace, pod('a')].join('---\n'))).findings, []);
});

test('a namespace without workloads is a finding only if its profile does not exist', async (t) => {
  assert.deepEqual((await reviewText(t, namespaceOf('shop', 'cilium'))).findings, []);
  assert.deepEqual((await reviewText(t, namespaceOf('shop', 'none'))).findings, []);
  const { findings } = await reviewText(t, namespaceOf('shop', 'cilium.linkred'));
  assert.deepEqual(findings, ['PROFILE_UNKNOWN Namespace shop']);
});

test('--profile: no check in the whole input is one finding, not one for each namespace', async (t) => {
  const text = [pod('a', 'one'), pod('b', 'kube-system')].join('---\n');
  assert.deepEqual((await reviewText(t, text, { profile: 'linkerd' })).findings, [
    'NOTHING_CHECKED the input',
  ]);
  assert.deepEqual((await reviewText(t, text, { profile: 'cilium' })).findings, []);
  assert.deepEqual((await reviewText(t, pod('b', 'kube-system'), { profile: 'cilium' })).findings, [
    'NOTHING_CHECKED the input',
  ]);
});

test('recorded reviews cause no finding about a namespace', async (t) => {
  const text = [JSON.stringify(recorded('pod-deployment-web')), namespaceOf('shop', 'linkerd')];
  const { reported, findings } = await reviewText(t, text.join('\n---\n'));
  assert.deepEqual(reported, ['skipped nothing-promised Pod shop/web-7fdb9d4559-*']);
  assert.deepEqual(findings, []);
});

test('several workloads of a missing namespace: one finding', async (t) => {
  const text = [pod('a'), pod('b'), pod('c', 'tools')].join('---\n');
  const { findings, report } = await reviewText(t, text);
  assert.deepEqual(findings, ['NAMESPACE_NOT_GIVEN Namespace shop', 'NAMESPACE_NOT_GIVEN Namespace tools']);
  assert.match(report.findings[0]?.message ?? '', /select the checks of 2 workloads: add it to the input/);
});

test('JSON: findings have code, subject and position', async (t) => {
  const { json } = await reviewText(t, namespaceOf('shop', 'cilium').replace('/profile', '/profil'));
  const [finding] = json().findings;
  assert.deepEqual(
    [finding?.code, finding?.subject, finding?.line],
    ['CNI_GATE_KEY_UNKNOWN', 'Namespace shop', 6],
  );
  assert.equal(json().summary.findings, 1);
  assert.ok(!('workload' in (finding ?? {})));
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
  const list = `apiVersion: v1\nkind: List\nitems:\n${items}\n`;
  const { json } = await reviewFiles(t, {
    'a.yaml': `# shop\n---\n${namespaceOf('shop', 'cilium')}---\n${job}`,
    'b.json': JSON.stringify(
      { apiVersion: 'v1', kind: 'Pod', metadata: { labels: { 'cni-gate.io/x': '' } } },
      null,
      2,
    ),
    'c.yaml': list,
  });
  assert.deepEqual(
    json().findings.map(({ code, file, line }) => [file.slice(-6), line, code]),
    [
      ['a.yaml', 20, 'CNI_GATE_KEY_UNKNOWN'],
      ['b.json', 6, 'CNI_GATE_KEY_UNKNOWN'],
      ['c.yaml', 14, 'CNI_GATE_KEY_UNKNOWN'],
      ['a.yaml', 23, 'CNI_GATE_JOB_COUNTS_PROOF'],
      ['c.yaml', 17, 'CNI_GATE_JOB_COUNTS_PROOF'],
    ],
  );
});
