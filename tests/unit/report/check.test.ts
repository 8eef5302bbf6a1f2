import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { checkShort, checkText } from '../../../webhook/report/check/text.ts';
import { checkPre } from '../../../webhook/report/checks/before-install.ts';
import { checkInstalled } from '../../../webhook/report/checks/installed.ts';
import type { CheckReport } from '../../../webhook/report/checks/report.ts';
import { reportOf } from '../../../webhook/report/checks/report.ts';
import type { PreFacts } from '../../../webhook/report/facts/before-install.ts';
import type { CheckFacts } from '../../../webhook/report/facts/collect.ts';
import { policyOf } from '../../support/configurations.ts';
import { schemaFaults } from '../../support/schemas.ts';
import { now } from '../nodes/readiness/objects.ts';
import { compareGolden } from './golden.ts';
import {
  allRegistered,
  checkFacts,
  forbidden,
  found,
  nothingInstalled,
  preFacts,
  usedBy,
  wholeInstallation,
} from './objects.ts';

const installed = (more: Partial<CheckFacts> = {}): CheckReport => {
  const facts = checkFacts(more);
  const findings = checkInstalled(facts, now);
  const { cluster, configuration } = facts;
  return reportOf({ findings, mode: 'installed', cluster, configuration: configuration.source, now });
};

const before = (more: Partial<PreFacts> = {}): CheckReport => {
  const facts = preFacts(more);
  const { cluster, source } = facts;
  return reportOf({ ...checkPre(facts, now), mode: 'pre', cluster, configuration: source, now });
};

/** An installation in which several things are wrong, and others are not known. */
const troubled = (): CheckReport =>
  installed({
    registered: { ...allRegistered, validating: undefined },
    installation: {
      ...wholeInstallation,
      certificate: forbidden('Secret cni-gate/cni-gate-tls'),
      lease: found({ holder: 'cni-gate-5d9f_1', renewed: now - 600_000, duration: 15_000 }),
    },
    serverRights: forbidden('the rights of the service account', 'subjectaccessreviews'),
    namespaces: found([
      { name: 'shop', profile: 'cilium' },
      ...['a', 'b', 'c', 'd'].map((name) => ({ name, profile: 'cillium' })),
      { name: '\u001b[31mred', profile: undefined },
    ]),
    clockSkew: 120_000,
    probe: undefined,
  });

/** A cluster that cannot have cni-gate yet, whose networks are not those of the profiles. */
const beforeTroubled = (): CheckReport =>
  before({
    version: found({ major: 1, minor: 29, text: 'v1.29.9', usesNominations: false, nominationsFrom: '1.35' }),
    apiServers: found([['--disable-admission-plugins=ValidatingAdmissionPolicy']]),
    servedApis: found([]),
    registered: allRegistered,
    rights: preFacts().rights.map((one) => ({ ...one, allowed: one.right.resource !== 'clusterroles' })),
    daemonSets: found([{ namespace: 'kube-system', name: 'kube-multus-ds' }]),
    nodes: found([]),
    namespaces: forbidden('namespaces', 'namespaces'),
  });

suite('golden files', () => {
  const reports = { check: troubled, 'check-pre': before, 'check-pre-troubled': beforeTroubled };
  for (const [name, make] of Object.entries(reports))
    test(`${name}: text of 100 columns, short, and JSON that matches its schema`, () => {
      const report = make();
      compareGolden(`${name}.txt`, checkText(report));
      const [, ...lines] = checkText(report).split('\n');
      const wide = lines.filter((line) => line.length > 100 && !/^ *\S+$|^ {4}kubectl label /.test(line));
      assert.deepEqual(wide, []);
      const failed = report.checks.filter(({ result }) => result === 'failed');
      assert.deepEqual(
        checkShort(report).match(/(?<=^✗ )[\w-]+/gm) ?? [],
        failed.map(({ id }) => id),
      );
      assert.deepEqual(schemaFaults('check')(report), []);
    });
});

suite('verdicts', () => {
  test('all passed; one failed; nothing known; not installed', () => {
    assert.deepEqual([installed().verdict, installed().headline], ['passed', 'All 19 checks passed.']);
    assert.equal(troubled().verdict, 'failed');
    assert.match(troubled().headline, /^\d+ of \d+ checks failed\. leader: /);
    const dark = installed({ registered: { ...allRegistered, mutating: undefined } });
    assert.deepEqual(
      [dark.verdict, dark.headline],
      ['not-known', 'It is not known whether all is well: 18 checks passed. Not known: webhook-pods.'],
    );
    const gone = installed({ ...nothingInstalled, serverRights: 'absent' });
    assert.deepEqual([gone.verdict, schemaFaults('check')(gone)], ['not-installed', []]);
  });

  test('a warning, and a part on which no verdict depends, are named', () => {
    const report = installed({ clockSkew: -120_000, serverRights: forbidden('rights') });
    assert.deepEqual(
      [report.verdict, report.headline],
      ['passed', 'All 18 checks passed. Warnings: own-clock. Not known: server-rights.'],
    );
    assert.equal(installed({ probe: undefined }).headline, 'All 18 checks passed. Not known: probe.');
  });

  test('colours only where they are painted, and none of the cluster', () => {
    assert.ok(!(checkText(troubled()) + checkShort(troubled())).includes('\u001b'));
    const painted = checkText(troubled(), { paint: (style, text) => `<${style}>${text}</>` });
    assert.match(painted, /^<red>\d of \d+ checks failed/);
    assert.match(painted, /^<green>✓<\/> kubernetes-version /m);
  });
});

suite('before an installation', () => {
  test('pods that may not be read: the check of networks says what is therefore not proposed', () => {
    const { checks } = before({ used: forbidden('pods') });
    const { what } = checks.find(({ id }) => id === 'networks') ?? {};
    assert.match(what ?? '', /no profile is proposed, as pods may not be read$/);
  });

  test('profiles that cannot be joined: why, and no command', () => {
    const redirect = { direction: 'outbound', listen: 4140, connect: ['192.0.2.2:1404'], timeout: '10s' };
    const own = (name: string, asUser: number) => ({
      name,
      daemonSets: [{ namespace: 'net', name }],
      proof: { checks: [{ redirect: { ...redirect, asUser } }] },
    });
    const [proposal] = before({
      policy: policyOf({ profiles: [own('one', 1), own('two', 2)] }),
      daemonSets: found(['one', 'two'].map((name) => ({ namespace: 'net', name }))),
      used: found(new Map([usedBy('one', 'two')('shop')])),
    }).proposals;
    assert.deepEqual([proposal?.profile, proposal?.command], ['one.two', '']);
    assert.match(proposal?.problem ?? '', /^profile "one\.two" is not possible: /);
  });
});
