import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse, stringify } from 'yaml';
import { type Flags, type Reviewed, reviewText } from './support.ts';

type Map = Record<string, string>;

/** What a case says of its namespace and of its pod. */
interface Case {
  profile: string;
  namespace?: { name?: string; labels?: Map; annotations?: Map };
  labels?: Map;
  annotations?: Map;
  containers?: { name: string; image?: string }[];
  spec?: object;
  kind?: string;
}

const app = { name: 'app', image: 'app:1' };

/** A Namespace and a workload in it. */
function manifests({ profile, namespace = {}, kind = 'Deployment', ...pod }: Case): string {
  const name = namespace.name ?? 'shop';
  const labels = { ...namespace.labels, 'cni-gate.io/profile': profile };
  const objects = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { ...namespace, name, labels } },
    {
      apiVersion: kind === 'Job' ? 'batch/v1' : 'apps/v1',
      kind,
      metadata: { name: 'web', namespace: name },
      spec: {
        template: {
          metadata: { labels: pod.labels ?? {}, annotations: pod.annotations ?? {} },
          spec: { containers: [app, ...(pod.containers ?? [])], ...pod.spec },
        },
      },
    },
  ];
  return objects.map((object) => stringify(object)).join('---\n');
}

const reviewed = (t: Parameters<typeof reviewText>[0], one: Case, flags?: Flags): Promise<Reviewed> =>
  reviewText(t, manifests(one), flags);

const injectLinkerd = { 'linkerd.io/inject': 'enabled' };
const injectIstio = { 'sidecar.istio.io/inject': 'true' };

const waiting: [what: string, one: Case, command: RegExp][] = [
  ['linkerd, by the pod', { profile: 'linkerd', annotations: injectLinkerd }, /linkerd inject --manual -/],
  ['linkerd in mode ingress', { profile: 'linkerd', annotations: { 'linkerd.io/inject': 'ingress' } }, /./],
  ['linkerd, by the namespace', { profile: 'linkerd', namespace: { annotations: injectLinkerd } }, /./],
  ['linkerd in a join', { profile: 'cilium.linkerd', annotations: injectLinkerd }, /./],
  ['a Job', { profile: 'linkerd', kind: 'Job', namespace: { annotations: injectLinkerd } }, /./],
  ['Istio, by the label', { profile: 'istio', labels: injectIstio }, /istioctl kube-inject -f -/],
  ['Istio, by the annotation', { profile: 'istio', annotations: injectIstio }, /./],
  [
    'Istio, by the namespace',
    { profile: 'istio', namespace: { labels: { 'istio-injection': 'enabled' } } },
    /./,
  ],
  ['a revision of the namespace', { profile: 'istio', namespace: { labels: { 'istio.io/rev': 'v1' } } }, /./],
  ['a revision of the pod', { profile: 'istio', labels: { 'istio.io/rev': 'v1' } }, /./],
  [
    'a proxy that Istio is yet to fill in',
    { profile: 'istio', labels: injectIstio, containers: [{ name: 'istio-proxy', image: 'auto' }] },
    /./,
  ],
  [
    'a sidecar in an ambient namespace',
    {
      profile: 'istio',
      labels: injectIstio,
      namespace: { labels: { 'istio.io/dataplane-mode': 'ambient' } },
    },
    /./,
  ],
];

for (const [what, one, command] of waiting) {
  test(`a pod without its proxy is a finding: ${what}`, async (t) => {
    const { findings, report, text } = await reviewed(t, one);
    assert.deepEqual(findings, [`PROXY_MISSING ${one.kind ?? 'Deployment'} shop/web`]);
    assert.match(report.findings[0]?.message ?? '', command);
    assert.match(report.findings[0]?.message ?? '', /--assume-meshed/);
    assert.match(text(), /^ {2}warning: requests (?:linkerd|istio) and has no/m);
    assert.match(text(true), /^ {2}error: requests/m);
  });
}

const enabled = { 'istio-injection': 'enabled' };
const silent: [what: string, one: Case][] = [
  [
    'the pod turns linkerd off',
    {
      profile: 'linkerd',
      namespace: { annotations: injectLinkerd },
      annotations: { 'linkerd.io/inject': 'disabled' },
    },
  ],
  [
    'a Job turns linkerd off',
    {
      profile: 'cilium.linkerd',
      kind: 'Job',
      namespace: { annotations: injectLinkerd },
      annotations: { 'linkerd.io/inject': 'disabled' },
    },
  ],
  ['the label is not what linkerd reads', { profile: 'cilium.linkerd', labels: injectLinkerd }],
  [
    "linkerd's webhook passes by the namespace",
    {
      profile: 'linkerd',
      annotations: injectLinkerd,
      namespace: { labels: { 'config.linkerd.io/admission-webhooks': 'disabled' } },
    },
  ],
  [
    'linkerd-proxy is there',
    { profile: 'linkerd', annotations: injectLinkerd, containers: [{ name: 'linkerd-proxy' }] },
  ],
  [
    'linkerd-init makes the rules',
    {
      profile: 'linkerd',
      annotations: injectLinkerd,
      containers: [{ name: 'linkerd-proxy' }, { name: 'linkerd-init' }],
    },
  ],
  [
    'istio-proxy is there',
    { profile: 'istio', labels: injectIstio, containers: [{ name: 'istio-proxy', image: 'proxyv2:1' }] },
  ],
  [
    'the pod turns Istio off',
    { profile: 'istio', namespace: { labels: enabled }, labels: { 'sidecar.istio.io/inject': 'false' } },
  ],
  [
    'the label goes before the annotation',
    { profile: 'istio', labels: { 'sidecar.istio.io/inject': 'false' }, annotations: injectIstio },
  ],
  [
    'the namespace turns Istio off',
    { profile: 'istio', labels: injectIstio, namespace: { labels: { 'istio-injection': 'disabled' } } },
  ],
  [
    'a gateway',
    { profile: 'istio', labels: injectIstio, annotations: { 'inject.istio.io/templates': 'gateway' } },
  ],
  [
    'proxyless gRPC',
    {
      profile: 'istio',
      namespace: { labels: enabled },
      annotations: { 'inject.istio.io/templates': 'grpc-agent' },
    },
  ],
  [
    'ambient, by the namespace',
    {
      profile: 'istio-ambient.istio',
      namespace: { labels: { 'istio.io/dataplane-mode': 'ambient', 'istio.io/rev': 'v1' } },
    },
  ],
  ['ambient, by the pod', { profile: 'istio-ambient', labels: { 'istio.io/dataplane-mode': 'ambient' } }],
  ['kube-system', { profile: 'linkerd', annotations: injectLinkerd, namespace: { name: 'kube-system' } }],
  [
    'opted out',
    { profile: 'linkerd', annotations: injectLinkerd, labels: { 'cni-gate.io/profile': 'none' } },
  ],
  ['the host network', { profile: 'linkerd', annotations: injectLinkerd, spec: { hostNetwork: true } }],
  ['no profile of the mesh', { profile: 'cilium', annotations: injectLinkerd, labels: injectIstio }],
  ['the profile of the other mesh', { profile: 'istio', annotations: injectLinkerd }],
];

for (const [what, one] of silent) {
  test(`no finding: ${what}`, async (t) => {
    const { findings, reported } = await reviewed(t, one);
    assert.deepEqual(
      findings.filter((finding) => finding.startsWith('PROXY_MISSING')),
      [],
      reported.join(),
    );
    const assumed = await reviewed(t, one, { assumeMeshed: true });
    assert.deepEqual(assumed.reported, reported);
    assert.equal(assumed.yaml(), (await reviewed(t, one)).yaml());
  });
}

test('a pod without its proxy is no finding in a namespace that did not opt in', async (t) => {
  const one: Case = { profile: 'none', annotations: injectLinkerd, labels: injectIstio };
  assert.deepEqual((await reviewed(t, one)).findings, ['NOTHING_CHECKED the input']);
});

test('a wrong label: only the refusal is reported', async (t) => {
  const { reported, findings } = await reviewed(t, { profile: 'nowhere', annotations: injectLinkerd });
  assert.deepEqual(reported, ['refused CNI_GATE_PROFILE_UNKNOWN Deployment shop/web']);
  assert.deepEqual(findings, []);
});

/** The template of the workload, as the YAML output has it. */
// biome-ignore lint/suspicious/noExplicitAny: any of its fields
const templateOf = (one: Reviewed): any => parse(one.yaml().split('---\n')[1] ?? '').spec.template;

const injected: [mesh: string, asking: Case, meshed: Case][] = [
  [
    'linkerd',
    { profile: 'cilium.linkerd', annotations: injectLinkerd },
    { profile: 'cilium.linkerd', annotations: injectLinkerd, containers: [{ name: 'linkerd-proxy' }] },
  ],
  [
    'istio',
    { profile: 'istio', labels: injectIstio },
    {
      profile: 'istio',
      labels: injectIstio,
      annotations: { 'sidecar.istio.io/status': '{}' },
      containers: [{ name: 'istio-proxy' }],
      spec: { initContainers: [{ name: 'istio-validation' }] },
    },
  ],
];

for (const [mesh, asking, meshed] of injected) {
  test(`--assume-meshed: a pod that requests ${mesh} gets the patch of the meshed pod, without a proxy`, async (t) => {
    const assumed = await reviewed(t, asking, { assumeMeshed: true });
    const real = await reviewed(t, meshed);
    assert.deepEqual(assumed.findings, []);
    const { checks, profiles, assumed: named } = assumed.json().workloads[0] ?? {};
    assert.deepEqual(named, [mesh]);
    assert.deepEqual(
      [checks, profiles],
      [real.json().workloads[0]?.checks, real.json().workloads[0]?.profiles],
    );
    const template = templateOf(assumed);
    assert.deepEqual(template.spec.initContainers, [templateOf(real).spec.initContainers[0]]);
    assert.deepEqual(template.spec.containers, [app]);
    const keys = [...Object.keys(asking.annotations ?? {}), 'cni-gate.io/status'];
    assert.deepEqual(Object.keys(template.metadata.annotations), keys);
    assert.match(
      assumed.text(),
      new RegExp(`^ {2}note: checked as if the injector of ${mesh} had run$`, 'm'),
    );
    assert.doesNotMatch(real.text(), /as if the injector/);
  });
}

test('--assume-meshed works with the `when` of a custom profile for any container of the mesh', async (t) => {
  const config = stringify({
    apiVersion: 'cni-gate.io/v1alpha1',
    kind: 'Configuration',
    profiles: [
      {
        name: 'mine',
        when: [
          {
            container: 'istio-validation',
            labels: { tier: 'web' },
            annotations: {
              'sidecar.istio.io/status': { exists: true },
              'sidecar.istio.io/inject': { notIn: ['false'] },
              'example.com/checked': 'done',
            },
          },
        ],
        proof: { container: { imageOf: 'istio-validation', asUser: 1337 } },
      },
    ],
  });
  const flags = { config, assumeMeshed: true };
  const asking: Case = { profile: 'mine', namespace: { labels: enabled } };
  for (const [labels, annotations, outcome] of [
    [{ tier: 'web' }, { 'example.com/checked': 'done' }, 'injected'],
    [{ tier: 'db' }, { 'example.com/checked': 'done' }, 'skipped'],
    [{ tier: 'web' }, {}, 'skipped'],
  ] as const) {
    const one = await reviewed(t, { ...asking, labels, annotations }, flags);
    assert.deepEqual(one.faults, []);
    assert.equal(one.report.reviewed[0]?.verdict.outcome, outcome);
    if (outcome === 'injected') {
      assert.equal(templateOf(one).spec.initContainers[0].image, 'image-of-istio-validation');
    }
  }
});
