import assert from 'node:assert/strict';
import { test } from 'node:test';
import { XMLParser, XMLValidator } from 'fast-xml-parser';
import { namespaceOf, pod, reviewFiles } from './support.ts';

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
  const documents = [
    pod('plain'),
    annotated('skipping', 'config.linkerd.io/skip-outbound-ports: "25"'),
    annotated('odd', 'config.linkerd.io/proxy-uid: "+7"'),
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
      ['odd', 'ids'],
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
