import assert from 'node:assert/strict';
import { test } from 'node:test';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { configuredProfiles } from '../support/configurations.ts';
import { namespaceOf, pod, reviewFiles, reviewText } from './support.ts';

test('the text output: a header, a unified diff with the lines of the file, and totals', async (t) => {
  const reviewed = await reviewFiles(
    t,
    { 'a.yaml': `# one\n---\n# two\n${pod('a')}` },
    { profile: 'cilium' },
  );
  const [document] = reviewed.report.documents;
  const lines = reviewed
    .text()
    .replaceAll(document?.file ?? '', 'a.yaml')
    .split('\n');
  assert.deepEqual(lines.slice(0, 9), [
    'injected Pod shop/a (a.yaml:4): cilium',
    '--- a.yaml',
    '+++ a.yaml as admitted',
    '@@ -6,7 +6,41 @@',
    ' metadata:',
    '   name: a',
    '   namespace: shop',
    '+  labels:',
    '+    cni-gate.io/profile: cilium',
  ]);
  assert.deepEqual(lines.slice(-3), ['0 warnings, 0 other objects', 'passed', '']);
});

test('the diff of an object in a List, and of JSON', async (t) => {
  const object = pod('a').replace('image: app:1', 'image:   "app:1"  # by hand');
  const list = `kind: List\napiVersion: v1\nitems:\n- ${object.replaceAll(/\n(?=.)/g, '\n  ')}`;
  const inList = (await reviewText(t, list, { profile: 'cilium' })).text();
  assert.match(inList, /^@@ -6,7 \+6,41 @@\n metadata:\n[^@]*\n {5}image: "app:1" # by hand\n/m);
  const json = JSON.stringify({ apiVersion: 'v1', kind: 'Pod', metadata: {}, spec: { containers: [] } });
  const inJson = (await reviewFiles(t, { 'a.json': json }, { profile: 'cilium' })).text();
  assert.match(inJson, /^\+ {8}"name": "cni-gate-validator",$/m);
});

test('an init container that the proof replaces is a removal in the diff', async (t) => {
  const validator = 'linkerd-network-validator';
  const text = pod('a').replace('spec:', `spec:\n  initContainers:\n  - name: ${validator}\n    image: b`);
  const redirect = { listen: 4140, connect: ['192.0.2.2:1404'] };
  const config = {
    ...{ apiVersion: 'cni-gate.io/v1alpha1', kind: 'Configuration' },
    profiles: [{ name: 'linkerd', proof: { checks: [{ redirect }], replaces: [validator] } }],
  };
  const reviewed = await reviewText(t, text, { profile: 'linkerd', config: JSON.stringify(config) });
  assert.match(reviewed.text(), /^- .*name: linkerd-network-validator/m);
  assert.doesNotMatch(reviewed.yaml(), /linkerd-network-validator/);
});

test('control characters in names do not reach the terminal', async (t) => {
  const text = pod('a').replace('name: a', 'name: "\\e[2Ja\\u009b1mb\\a"');
  const reviewed = await reviewText(t, text, { profile: 'cilium' });
  assert.doesNotMatch(reviewed.text(), /[^\P{Cc}\n]/u);
  assert.match(reviewed.text(), /^injected Pod shop\/a/);
});

test('without a diff: a line for each workload, then findings and totals', async (t) => {
  const host = pod('host').replace('spec:', 'spec:\n  hostNetwork: true');
  const refused = pod('wrong').replace('metadata:', 'metadata:\n  labels: {cni-gate.io/profile: nowhere}');
  const documents = [namespaceOf('shop', 'cilium.multus'), pod('a'), host, refused, pod('b', 'tools')];
  const text = `${documents.join('---\n')}---\nkind: Service\napiVersion: v1\n`;
  const reviewed = await reviewText(t, text);
  assert.deepEqual(
    reviewed
      .brief()
      .replaceAll(/\/\S*(?=:\d+)/g, 'f')
      .split('\n'),
    [
      'injected Pod shop/a (f:8): cilium',
      'skipped Pod shop/host (f:18): host-network',
      `refused Pod shop/wrong (f:29): profile "nowhere" does not exist; ${configuredProfiles} (CNI_GATE_PROFILE_UNKNOWN)`,
      'skipped Pod tools/b (f:40): namespace-not-given',
      'warning Namespace tools (f:44): is not in the input, so the checks of 1 workload are not known: add it to the input, set another with -n for objects that name none, or use --profile (CNI_GATE_NAMESPACE_NOT_GIVEN)',
      'warning Namespace shop (f:6): profile multus applies to no workload in the input: look at its condition "when", or leave it out (for a mesh, add --assume-meshed, or review pods with its containers) (CNI_GATE_NOTHING_CHECKED)',
      'reviewed 4 workloads: 1 injected, 2 skipped (host-network 1, namespace-not-given 1), 1 refused',
      '2 warnings, 1 other object (Service 1)',
      'failed',
      '',
    ],
  );
});

const labelled = (name: string, profile: string): string =>
  pod(name).replace('metadata:', `metadata:\n  labels: {cni-gate.io/profile: ${profile}}`);

const strictConfig = 'apiVersion: cni-gate.io/v1alpha1\nkind: Configuration\nproof: {allowOptOut: false}\n';

/** One document of each kind: injected, with a warning, refused, without a Namespace, unreadable, not a workload. */
const files = {
  'a.yaml': [
    pod('good'),
    labelled('warned', 'none'),
    labelled('refused', 'nowhere'),
    pod('other', 'elsewhere'),
    namespaceOf('shop', 'cilium'),
  ].join('---\n'),
  'b.yaml': `kind: Service\napiVersion: v1\n---\n${pod('broken').replace('metadata:', 'metadata:\n  labels: {v: 1.10}')}---\na: b: c\n`,
};

test('JSON: one document with summary, workloads, findings and errors', async (t) => {
  const reviewed = await reviewFiles(t, files, { config: strictConfig });
  const { summary, workloads, errors } = reviewed.json();
  assert.deepEqual(summary, {
    workloads: 4,
    injected: 2,
    updated: 0,
    current: 0,
    removed: 0,
    skipped: { 'namespace-not-given': 1 },
    warned: 0,
    refused: 1,
    otherObjects: { Service: 1 },
    namespaces: 1,
    warnings: 1,
    findings: 1,
    errors: 2,
  });
  assert.deepEqual(
    workloads.map(({ name, line, outcome, reason, profiles }) => [name, line, outcome, reason, profiles]),
    [
      ['good', 1, 'injected', 'profile-applies', ['cilium']],
      ['warned', 11, 'injected', 'profile-applies', ['cilium']],
      ['refused', 22, 'refused', 'CNI_GATE_PROFILE_UNKNOWN', []],
      ['other', 33, 'skipped', 'namespace-not-given', []],
    ],
  );
  const [good, warned, refused] = workloads;
  assert.equal(good?.kind, 'Pod');
  assert.equal(good?.apiVersion, 'v1');
  assert.match(good?.file ?? '', /a\.yaml$/);
  assert.deepEqual(
    good?.patch.map(({ op, path }) => `${op} ${path}`),
    ['add /spec/initContainers', 'add /metadata/labels', 'add /metadata/annotations'],
  );
  assert.match(warned?.warnings.join() ?? '', /is not allowed/);
  assert.match(refused?.message ?? '', /profile "nowhere" of "cilium.nowhere" does not exist/);
  assert.deepEqual(
    errors.map(({ code, line }) => [code, line]),
    [
      ['CNI_GATE_INPUT_SYNTAX', 15],
      ['CNI_GATE_INPUT_SYNTAX', 7],
    ],
  );
  assert.match(
    errors[1]?.message ?? '',
    /Pod shop\/broken: metadata\.labels\.v must be string, is 1\.1: put it in quotes/,
  );
});

interface Case {
  '@name': string;
  '@line': string;
  failure?: { '@message': string; '@type': string };
  skipped?: { '@message': string };
}

function suitesOf(
  xml: string,
): { '@name': string; '@tests': string; '@failures': string; testcase: Case[] }[] {
  assert.equal(XMLValidator.validate(xml), true);
  const parser = new XMLParser({
    ignoreAttributes: false,
    attributeNamePrefix: '@',
    isArray: (name) => name === 'testcase' || name === 'testsuite',
  });
  return parser.parse(xml).testsuites.testsuite;
}

test('JUnit: a suite for each file, a case for each workload that is admitted and for each problem; with --strict, warnings are failures', async (t) => {
  const reviewed = await reviewFiles(t, files, { config: strictConfig });
  const [a, b] = suitesOf(reviewed.junit());
  assert.match(a?.['@name'] ?? '', /a\.yaml$/);
  const reported = (one: Case): string[] => ['failure', 'skipped'].filter((name) => name in one);
  assert.deepEqual(
    a?.testcase.map((one) => [one['@name'], one['@line'], ...reported(one)]),
    [
      ['Pod shop/good', '1'],
      ['Pod shop/warned', '11'],
      ['Pod elsewhere/other', '33', 'skipped'],
      ['Pod shop/warned admission-warning', '11'],
      ['Pod shop/refused CNI_GATE_PROFILE_UNKNOWN', '22', 'failure'],
      ['Namespace elsewhere CNI_GATE_NAMESPACE_NOT_GIVEN', '37'],
    ],
  );
  const { failure } = a?.testcase[4] ?? {};
  assert.match(failure?.['@message'] ?? '', /profile "nowhere" of "cilium.nowhere" does not exist/);
  assert.deepEqual(b?.testcase.map(reported), [['failure'], ['failure']]);
  assert.deepEqual([a?.['@tests'], a?.['@failures']], ['6', '1']);
  const [strict] = suitesOf(reviewed.junit(true));
  assert.match(strict?.testcase[3]?.failure?.['@message'] ?? '', /is not allowed/);
  assert.equal(strict?.testcase.at(-1)?.failure?.['@type'], 'CNI_GATE_NAMESPACE_NOT_GIVEN');
});

test('JSON and text: the workloads that the mutating policy leaves to the server, with the reason', async (t) => {
  const manyContainers = Array.from({ length: 201 }, (_, at) => `{name: c${at}, image: web}`);
  const annotated = (name: string, annotation: string): string =>
    pod(name).replace('metadata:', `metadata:\n  annotations: {${annotation}}`);
  const withProxy = (name: string, listeners: string): string =>
    pod(name).replace(
      /containers:.*/s,
      `containers: [{name: linkerd-proxy, image: proxy, env: [{name: LINKERD2_PROXY_INBOUND_LISTEN_ADDR, value: '${listeners}'}]}]\n`,
    );
  const documents = [
    pod('plain'),
    annotated('skipping', 'config.linkerd.io/skip-outbound-ports: "25,1404"'),
    annotated('others', 'config.linkerd.io/skip-outbound-ports: "smtp,25"'),
    withProxy('ipv6', '[::1]:4143,0.0.0.0:4143'),
    withProxy('named', 'localhost:4143'),
    labelled('opted-out', 'none'),
    labelled('refused', 'nowhere'),
    pod('large').replace(/containers:.*/s, `containers: [${manyContainers.join(', ')}]\n`),
    namespaceOf('shop', 'linkerd'),
  ];
  const reviewed = await reviewFiles(t, { 'a.yaml': documents.join('---\n') });
  assert.deepEqual(
    reviewed.json().workloads.map(({ name, needsServer }) => [name, needsServer]),
    [
      ['plain', undefined],
      ['skipping', 'skipped-ports'],
      ['others', undefined],
      ['ipv6', undefined],
      ['named', 'families'],
      ['opted-out', undefined],
      ['refused', undefined],
      ['large', 'too-large'],
    ],
  );
  assert.match(
    reviewed.brief(),
    /shop\/skipping .*\n {2}note: needs the server: an annotation of the pod or its /,
  );
});
