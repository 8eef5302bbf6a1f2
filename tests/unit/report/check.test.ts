import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import checkSchema from '../../../schemas/check.json' with { type: 'json' };
import { catalogue } from '../../../webhook/report/judge/catalogue.ts';
import type { CheckFacts, PreFacts } from '../../../webhook/report/observe/observe.ts';
import { type CheckReport, checkReport, checkText } from '../../../webhook/report/show/check.ts';
import { policyOf } from '../../support/configurations.ts';
import { schemaFaults } from '../../support/schemas.ts';
import { now } from '../core/networks/objects.ts';
import { compareGolden } from './golden.ts';
import {
  allRegistered,
  checkFacts,
  configured,
  daemonSet,
  forbidden,
  found,
  kubernetes,
  preFacts,
  wholeInstallation,
} from './objects.ts';

const withPodNetwork = policyOf({ profiles: [{ name: 'pod-network' }] });

const installed = (more: Partial<CheckFacts> = {}): CheckReport => checkReport(checkFacts(more), now);
const before = (more: Partial<PreFacts> = {}): CheckReport => checkReport(preFacts(more), now);

/** An installation in which several things are wrong, and several others cannot be read. */
const troubled = (): CheckReport =>
  installed({
    registered: { ...allRegistered, validating: undefined },
    installation: {
      ...wholeInstallation,
      certificate: forbidden('Certificate: Secret cni-gate/cni-gate-tls'),
      lease: found({ holder: 'cni-gate-5d9f_1', renewed: now - 600_000, duration: 15_000 }),
    },
    serverRights: forbidden('the rights of the service account', 'subjectaccessreviews'),
    namespaces: found([
      { name: 'shop', profile: 'cilium' },
      ...['a', 'b', 'c', 'd'].map((name) => ({ name, profile: 'cillium' })),
      { name: '\u001b[31mred', profile: undefined },
    ]),
    probe: undefined,
  });

/** A cluster that is not ready for an installation of cni-gate, and whose networks are not those of the profiles. */
const beforeTroubled = (): CheckReport =>
  before({
    version: kubernetes(29, 9),
    registered: allRegistered,
    rights: {
      asked: 30,
      missing: ['create', 'patch'].map((verb) => `${verb} clusterroles.rbac.authorization.k8s.io`),
    },
    daemonSets: found([daemonSet('kube-system', 'kube-multus-ds')]),
    configuration: { policy: withPodNetwork, source: 'the built-in profiles' },
  });

suite('golden files', () => {
  const reports = { check: troubled, 'check-pre': before, 'check-pre-troubled': beforeTroubled };
  for (const [name, make] of Object.entries(reports))
    test(`${name}: text of 100 columns, and JSON that matches its schema`, () => {
      const report = make();
      compareGolden(`${name}.txt`, checkText(report));
      const [, ...lines] = checkText(report).split('\n');
      const wide = lines.filter((line) => line.length > 100 && !/^ *\S+$|^ {4}kubectl label /.test(line));
      assert.deepEqual(wide, []);
      assert.deepEqual(schemaFaults('check')(report), []);
    });
});

suite('results', () => {
  test('a warning, and a part on which no result depends, are named', () => {
    const report = installed({ version: kubernetes(34, 1), serverRights: forbidden('rights') });
    assert.deepEqual(
      [report.result, report.headline],
      [
        'passed',
        'No check failed. Warnings: kubernetes-version: v1.34.1: refused pods are not steered, which needs 1.35. Not known: server-rights.',
      ],
    );
    assert.match(checkText(report, { paint: (style, text) => `<${style}>${text}</>` }), /^<yellow>No check/);
    assert.equal(installed({ probe: undefined }).headline, 'All 17 checks passed. Not known: probe.');
  });

  test('colours only where they are painted, and none of the cluster', () => {
    assert.ok(!checkText(troubled()).includes('\u001b'));
    const painted = checkText(troubled(), { paint: (style, text) => `<${style}>${text}</>` });
    assert.match(painted, /^<red>\d of \d+ checks failed/);
    assert.match(painted, /^<green>✓<\/> kubernetes-version /m);
  });
});

suite('before an installation', () => {
  test('profiles that cannot be combined: why, and no command', () => {
    const redirect = { direction: 'outbound', listen: 4140, connect: ['192.0.2.2:1404'], timeout: '10s' };
    const own = (name: string, asUser: number) => ({
      name,
      daemonSets: [{ namespace: 'net', name }],
      proof: { checks: [{ redirect: { ...redirect, asUser } }] },
    });
    const [proposal] = before({
      configuration: configured({ profiles: [own('one', 1), own('two', 2)] }),
      daemonSets: found(['one', 'two'].map((name) => daemonSet('net', name))),
    }).proposals;
    assert.deepEqual([proposal?.profile, proposal?.command], ['one.two', '']);
    assert.match(proposal?.problem ?? '', /^profile "one\.two" is not possible: /);
  });

  test('pod-network, where no profile for every pod has its DaemonSet in the cluster', () => {
    const ofCluster = (daemonSets: PreFacts['daemonSets'], more: Partial<PreFacts> = {}) => {
      const { proposals, checks } = before({ daemonSets, ...more });
      const { result, what } = checks.find(({ id }) => id === 'networks') ?? {};
      return [proposals.map(({ profile }) => profile).join(), result, what];
    };
    const none = 'no profile for every pod has its DaemonSet here: pod-network needs none';
    const configuration = { policy: withPodNetwork, source: '' };
    assert.deepEqual(ofCluster(found([]), { configuration }), ['pod-network', 'warning', none]);
    assert.deepEqual(ofCluster(found([daemonSet('linkerd-cni', 'linkerd-cni')]), { configuration }), [
      'linkerd.pod-network',
      'passed',
      `profiles that fit: linkerd; ${none}`,
    ]);
    assert.deepEqual(ofCluster(found([daemonSet('kube-system', 'cilium')]), { configuration }), [
      'cilium',
      'passed',
      'profiles that fit: cilium',
    ]);
    assert.deepEqual(ofCluster(forbidden('DaemonSets'), { configuration }).slice(0, 2), ['', 'not-known']);
  });
});

test('the schema has the names and groups of the catalogue', () => {
  const { properties } = checkSchema.properties.checks.items;
  assert.deepEqual(
    properties.id.enum,
    catalogue.map(({ id }) => id),
  );
  assert.deepEqual(properties.group.enum, [...new Set(catalogue.map(({ group }) => group))]);
});
