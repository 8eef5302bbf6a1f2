import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { cniGate } from '../support/command.ts';
import { folderWith, namespaceOf, pod, reviewFiles, reviewText } from './support.ts';

const bare = (name: string): string => `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}}\n`;

/** A Deployment whose pods carry the profile label; null for a template's variable that is not set. */
const deployment = (name: string, profile: string | null, namespace = 'shop'): string =>
  JSON.stringify({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace },
    spec: {
      template: {
        metadata: { labels: { app: name, 'cni-gate.io/profile': profile } },
        spec: { containers: [{ name: 'app', image: 'app:1' }] },
      },
    },
  });

const documents = (...texts: string[]): string => texts.join('\n---\n');
const onHost = (name: string, namespace = 'shop'): string =>
  pod(name, namespace).replace('spec:', 'spec:\n  hostNetwork: true');

suite('nothing is in a namespace that opted in: a finding, and --strict fails', () => {
  for (const [what, text] of [
    ['a Namespace without the label', documents(bare('shop'), pod('a'))],
    [
      'beside another Namespace that opted in',
      documents(bare('shop'), pod('a'), namespaceOf('tools', 'cilium')),
    ],
    ['a Namespace with none', documents(namespaceOf('shop', 'none'), pod('a'))],
  ] as const) {
    test(what, (t) => {
      const folder = folderWith(t, { 'a.yaml': text });
      const strict = cniGate(['review', '-f', folder, '--strict', '-o', 'json']);
      const { findings, summary } = JSON.parse(strict.stdout);
      assert.deepEqual([strict.status, summary.findings], [1, 1]);
      assert.equal(findings[0].code, 'CNI_GATE_NOTHING_CHECKED');
      assert.match(
        findings[0].message,
        /^none of 1 workload is in a namespace that opted in: add its Namespace /,
      );
      assert.equal(cniGate(['review', '-f', folder]).status, 0);
    });
  }

  test('a workload that is checked in another namespace: no finding', async (t) => {
    const text = documents(bare('shop'), pod('a'), namespaceOf('tools', 'cilium'), pod('b', 'tools'));
    assert.deepEqual((await reviewText(t, text)).findings, []);
  });

  test('a Namespace that is not given: its labels are unknown, and only that is said', async (t) => {
    assert.deepEqual((await reviewText(t, documents(bare('shop'), pod('a'), pod('b', 'tools')))).findings, [
      'NAMESPACE_NOT_GIVEN Namespace tools',
    ]);
    assert.deepEqual((await reviewText(t, deployment('web', 'cilium'))).findings, [
      'NAMESPACE_NOT_GIVEN Namespace shop',
    ]);
    assert.deepEqual((await reviewText(t, pod('a'), { profile: 'cilium' })).findings, []);
  });

  test('no workload at all: nothing to check, no finding', async (t) => {
    const config = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n';
    assert.deepEqual((await reviewText(t, documents(bare('shop'), config))).findings, []);
  });
});

suite('--profile and no workload gets a check: one finding', () => {
  for (const [what, text, reasons] of [
    ['all on the host network', documents(onHost('a'), onHost('b')), 'host-network 2'],
    [
      'all in kube-system',
      documents(onHost('a', 'kube-system'), pod('b', 'kube-system')),
      'exempt-namespace 2',
    ],
    ['both', documents(onHost('a'), onHost('b', 'kube-system')), 'host-network 1, exempt-namespace 1'],
  ] as const) {
    test(what, async (t) => {
      const { report } = await reviewText(t, text, { profile: 'cilium' });
      assert.deepEqual(
        report.findings.map(({ code, subject, message }) => [code, subject, message]),
        [
          [
            'CNI_GATE_NOTHING_CHECKED',
            'the input',
            `none of 2 workloads gets a check (${reasons}): check each reason, or review these without --strict`,
          ],
        ],
      );
    });
  }
});

suite("a pod's label without its namespace's", () => {
  test('one finding for the namespace, at the first label', async (t) => {
    const text = documents(
      bare('shop'),
      deployment('web', 'cilium'),
      deployment('db', 'cilium.linkerd'),
      namespaceOf('tools', 'cilium'),
      pod('b', 'tools'),
    );
    const { json, findings } = await reviewText(t, text);
    assert.deepEqual(findings, ['NOT_OPTED_IN Namespace shop']);
    assert.equal(
      json().findings[0]?.message,
      'did not opt in, so the label cni-gate.io/profile=cilium on the pods of Deployment shop/web and 1 more has no effect: it opts in nothing by itself, so put it on the Namespace',
    );
    assert.equal(json().findings[0]?.line, 6);
  });

  test('nothing is said twice if it is the only workload, or the Namespace has none', async (t) => {
    for (const namespace of [bare('shop'), namespaceOf('shop', 'none')]) {
      const { findings } = await reviewText(t, documents(namespace, deployment('web', 'cilium')));
      assert.deepEqual(findings, ['NOT_OPTED_IN Namespace shop']);
    }
  });

  test('a label none, a label that an injection wrote, and exempt namespaces: no such finding', async (t) => {
    const checked = documents(namespaceOf('tools', 'cilium'), pod('b', 'tools'));
    const optedOut = documents(checked, bare('shop'), deployment('web', 'none'));
    assert.deepEqual((await reviewText(t, optedOut)).findings, []);
    const injected = (await reviewText(t, pod('a'), { profile: 'cilium' })).yaml();
    assert.deepEqual((await reviewText(t, documents(checked, bare('shop'), injected))).findings, []);
    const exempt = documents(checked, deployment('web', 'cilium', 'kube-system'));
    assert.deepEqual((await reviewText(t, exempt)).findings, []);
  });
});

suite('a profile label without a value is one finding', () => {
  const message = 'label cni-gate.io/profile has no value and no effect: set a profile, or remove it';
  const null_ = namespaceOf('shop', '').replace('profile: \n', 'profile:\n');
  for (const [what, text, subject] of [
    ['an empty one of a Namespace', documents(namespaceOf('shop', '""'), pod('a')), 'Namespace shop'],
    [
      'one of a Namespace whose pods have another',
      documents(namespaceOf('shop', '""'), deployment('web', 'cilium')),
      'Namespace shop',
    ],
    ['null of a Namespace', documents(null_, pod('a')), 'Namespace shop'],
    ['an empty one of a Namespace without workloads', namespaceOf('shop', "''"), 'Namespace shop'],
    [
      'an empty one of pods',
      documents(namespaceOf('shop', 'cilium'), deployment('web', '')),
      'Deployment shop/web',
    ],
    [
      'null of pods',
      documents(namespaceOf('shop', 'cilium'), deployment('web', null)),
      'Deployment shop/web',
    ],
    [
      'an empty one of a pod',
      documents(
        namespaceOf('shop', 'cilium'),
        pod('a').replace('metadata:', 'metadata:\n  labels: {cni-gate.io/profile: }'),
      ),
      'Pod shop/a',
    ],
    [
      'an empty one of the workload itself',
      documents(
        namespaceOf('shop', 'cilium'),
        deployment('web', 'cilium').replace('"namespace"', '"labels":{"cni-gate.io/profile":""},"namespace"'),
      ),
      'Deployment shop/web',
    ],
  ] as const) {
    test(what, async (t) => {
      const { report } = await reviewText(t, text);
      assert.deepEqual(
        report.findings.map((finding) => [finding.code, finding.subject, finding.message]),
        [['CNI_GATE_KEY_UNKNOWN', subject, message]],
      );
    });
  }
});

suite("cni-gate's own namespace is exempt, as for the server", () => {
  const text = (namespace: string): string =>
    documents(namespaceOf(namespace, 'cilium'), pod('a', namespace));

  test('cni-gate by default', (t) => {
    const folder = folderWith(t, { 'a.yaml': documents(text('cni-gate'), text('shop')) });
    const { stdout, status } = cniGate(['review', '-f', folder, '-o', 'json']);
    const { workloads } = JSON.parse(stdout);
    assert.deepEqual(
      [
        status,
        ...workloads.map((one: { outcome: string; reason: string }) => `${one.outcome} ${one.reason}`),
      ],
      [0, 'skipped exempt-namespace', 'injected promised'],
    );
  });

  test('another with --own-namespace', (t) => {
    const folder = folderWith(t, { 'a.yaml': documents(text('cni-gate'), text('proofs')) });
    const { stdout } = cniGate(['review', '-f', folder, '--own-namespace', 'proofs', '--summary']);
    assert.match(stdout, /^injected +Pod\/a +cni-gate .*\nskipped +Pod\/a +proofs +exempt-namespace /m);
  });

  test('a workload there or in kube-system whose Namespace is not given: no finding', async (t) => {
    const files = { 'a.yaml': documents(pod('a', 'kube-system'), text('shop')) };
    assert.deepEqual((await reviewFiles(t, files)).findings, []);
  });
});
