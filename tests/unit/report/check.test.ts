import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import checkSchema from '../../../schemas/check.json' with { type: 'json' };
import { catalogue } from '../../../webhook/report/judge/catalogue.ts';
import type { CheckFacts, PreFacts } from '../../../webhook/report/observe/observe.ts';
import { type CheckReport, checkReport, checkText } from '../../../webhook/report/show/check.ts';
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
  test('a warning, and a part that the result does not depend on, are named', () => {
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

  test('colours only where the command paints them, and none from the cluster', () => {
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

  /** The DaemonSets of clusters, and the profiles that are proposed for them. */
  const clusters: [profile: string, ...daemonSets: string[]][] = [
    ['calico', 'calico-system/calico-node'],
    ['calico', 'kube-system/calico-node'],
    ['flannel', 'kube-flannel/kube-flannel-ds'],
    ['antrea', 'kube-system/antrea-agent'],
    ['ovn-kubernetes', 'openshift-ovn-kubernetes/ovnkube-node', 'openshift-multus/multus'],
    ['azure-cni.cilium', 'kube-system/azure-cns', 'kube-system/cilium'],
    ['gke-dataplane-v2', 'kube-system/anetd'],
    ['kube-router.linkerd', 'kube-system/kube-router', 'linkerd-cni/linkerd-cni'],
    ['linkerd.pod-network', 'linkerd-cni/linkerd-cni'],
    // k3s, whose Flannel runs inside the agent
    ['pod-network', 'kube-system/svclb-traefik-0b1c2d3e'],
    ['pod-network'],
  ];
  for (const [profile, ...names] of clusters)
    test(`${profile} is proposed for ${names.join(', ') || 'no DaemonSet'}`, () => {
      const places = names.map((name) => name.split('/') as [string, string]);
      const { proposals, checks } = before({ daemonSets: found(places.map((place) => daemonSet(...place))) });
      const all = profile.split('.');
      const fitting = all.filter((name) => name !== 'pod-network').join(', ');
      const none = 'no profile knows the DaemonSet of the pod network: pod-network fits every network';
      const { result, what } = checks.find(({ id }) => id === 'networks') ?? {};
      assert.deepEqual(
        [proposals.map((proposal) => proposal.profile), result, what],
        [
          [profile],
          fitting === '' ? 'warning' : 'passed',
          [fitting && `profiles that fit: ${fitting}`, all.includes('pod-network') && none]
            .filter(Boolean)
            .join('; '),
        ],
      );
    });

  test('nothing is proposed if DaemonSets may not be read', () => {
    const { proposals, counts } = before({ daemonSets: forbidden('DaemonSets') });
    assert.deepEqual([proposals, counts['not-known']], [[], 1]);
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
