import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import type { InstalledFacts, PreFacts } from '../../../webhook/check/facts.ts';
import { checkInstalled } from '../../../webhook/check/installed.ts';
import type { CheckReport } from '../../../webhook/check/model.ts';
import { checkPre } from '../../../webhook/check/pre.ts';
import { reportOf } from '../../../webhook/check/report.ts';
import { checkShort, checkText } from '../../../webhook/check/text.ts';
import { schemaFaults } from '../../support/schemas.ts';
import { now } from '../readiness/objects.ts';
import { allRegistered, wholeInstallation } from '../status/objects.ts';
import { bare, forbidden, found, installed } from './objects.ts';

const installedReport = (more: Partial<InstalledFacts> = {}): CheckReport => {
  const facts = installed(more);
  const { cluster, configuration } = facts;
  const findings = checkInstalled(facts, now);
  return reportOf({ findings, mode: 'installed', cluster, configuration: configuration.source, now });
};

const preReport = (more: Partial<PreFacts> = {}): CheckReport => {
  const facts = bare(more);
  const { cluster, source } = facts;
  const findings = checkPre(facts, 'cni-gate', now);
  return reportOf({ ...findings, mode: 'pre', cluster, configuration: source, now });
};

const mayNotCreate: InstalledFacts['probe'] = {
  namespace: 'shop',
  outcome: 'not-made',
  what: 'cannot create pods in namespace shop: pods is forbidden. RBAC lacks verb "create" on resource "pods" of API group ""',
  reason: 'rights',
};

/** An installation in which several things are wrong, and others are not known. */
const troubled = (): CheckReport =>
  installedReport({
    registered: { ...allRegistered, validating: undefined },
    installation: {
      ...wholeInstallation,
      services: wholeInstallation.services.map((service) => ({
        ...service,
        endpoints: found({ all: 0, withPort: 0, ready: 0 }),
      })),
      certificate: { unknown: { why: 'Secret cni-gate/cni-gate-tls may not be read', forbidden: true } },
      lease: found({ holder: 'cni-gate-5d9f_1', renewed: now - 600_000, duration: 15_000 }),
    },
    serverRights: forbidden('the rights of the service account', 'subjectaccessreviews'),
    namespaces: found([
      { name: 'shop', profile: 'cilium' },
      ...['a', 'b', 'c', 'd'].map((name) => ({ name, profile: 'cillium' })),
      { name: '\u001b[31mred', profile: undefined },
    ]),
    clockSkew: 120_000,
    probe: mayNotCreate,
  });

/** The Service finds no replica. */
const noEndpoints: Partial<InstalledFacts> = {
  probe: {
    namespace: 'shop',
    outcome: 'failed',
    what: 'cannot create pods in namespace shop: Internal error occurred: failed calling webhook "pods.cni-gate.io": failed to call webhook: Post "https://cni-gate.cni-gate.svc:443/mutate?timeout=10s": no endpoints available for service "cni-gate"',
    reason: 'webhook-call',
  },
  installation: {
    ...wholeInstallation,
    services: wholeInstallation.services.map((service) => ({
      ...service,
      endpoints: found({ all: 0, withPort: 0, ready: 0 }),
    })),
  },
};

const notInstalled = (): CheckReport =>
  installedReport({
    cluster: { ...installed().cluster, serverVersion: null },
    registered: { mutating: [], validating: [] },
    installation: {
      ...wholeInstallation,
      deployment: 'absent',
      services: wholeInstallation.services.map((service) => ({ ...service, service: 'absent' as const })),
      policies: wholeInstallation.policies.map((pair) => ({ ...pair, policy: 'absent', binding: 'absent' })),
      lease: 'absent',
    },
    serverRights: 'absent',
  });

/** A cluster that cannot have cni-gate yet, whose networks are not those of the profiles. */
const preTroubled = (): CheckReport => {
  const { rights } = bare();
  return preReport({
    version: found({ major: 1, minor: 29, text: 'v1.29.9', usesNominations: false, nominationsFrom: '1.35' }),
    apiServers: found([['--disable-admission-plugins=ValidatingAdmissionPolicy']]),
    servedApis: found([]),
    present: true,
    rights: rights.map((one) => ({ ...one, allowed: one.right.resource !== 'clusterroles' })),
    daemonSets: found([
      { namespace: 'cilium', name: 'cilium' },
      { namespace: 'kube-system', name: 'kube-multus-ds' },
    ]),
    nodes: found([]),
    namespaces: forbidden('namespaces', 'namespaces'),
  });
};

const reports: Record<string, () => CheckReport> = {
  well: installedReport,
  troubled,
  'no-endpoints': () => installedReport(noEndpoints),
  pre: preReport,
  'pre-troubled': preTroubled,
  'not-installed': notInstalled,
};

suite('golden files', () => {
  const folder = new URL('./golden/', import.meta.url);
  const faults = schemaFaults('check');

  /** Compares with a golden file, which `npm run test:update` writes. */
  function compare(name: string, text: string): void {
    const file = new URL(name, folder);
    if (process.env.UPDATE_GOLDEN) writeFileSync(file, text);
    assert.equal(text, readFileSync(file, 'utf8'));
  }

  for (const [name, make] of Object.entries(reports)) {
    test(`${name}: as text, short and as JSON that matches its schema`, () => {
      const report = make();
      compare(`${name}.txt`, checkText(report));
      compare(`${name}.short.txt`, checkShort(report));
      const file = new URL(`${name}.json`, folder);
      if (process.env.UPDATE_GOLDEN) writeFileSync(file, `${JSON.stringify(report, null, 2)}\n`);
      assert.deepEqual(report, JSON.parse(readFileSync(file, 'utf8')));
      assert.deepEqual(faults(report), []);
    });

    test(`${name}: no line but the first, a command and one that is a single word is wider than asked`, () => {
      for (const width of [80, 100, 200]) {
        const [, ...lines] = checkText(make(), { width }).split('\n');
        const wide = lines.filter((line) => line.length > width && !/^ *\S+$|^ {4}kubectl label /.test(line));
        assert.deepEqual(wide, []);
      }
    });
  }
});

test('the reference shows a report as the command prints it', () => {
  const page = readFileSync(new URL('../../../docs/reference/command-line.md', import.meta.url), 'utf8');
  const text = checkText(installedReport(noEndpoints));
  assert.ok(page.includes(`\`\`\`\n${text}\`\`\`\n`), text);
});

suite('verdicts', () => {
  test('all passed; one failed; nothing known; not installed', () => {
    assert.equal(installedReport().verdict, 'passed');
    assert.equal(installedReport().headline, 'All 19 checks passed.');
    assert.equal(troubled().verdict, 'failed');
    const dark = installedReport({ registered: { ...allRegistered, mutating: undefined } });
    assert.deepEqual(
      [dark.verdict, dark.headline],
      ['not-known', 'It is not known whether all is well: 18 checks passed. Not known: webhook-pods.'],
    );
    assert.equal(notInstalled().verdict, 'not-installed');
  });

  test('a warning and a part that nobody depends on leave the verdict as it is, and are named', () => {
    const report = installedReport({ clockSkew: -120_000, serverRights: forbidden('rights', 'x') });
    assert.deepEqual(
      [report.verdict, report.headline],
      ['passed', 'All 18 checks passed. Warnings: own-clock. Not known: server-rights.'],
    );
  });

  test('colours only where they are painted, and none of the cluster', () => {
    const report = installedReport({
      namespaces: found([{ name: 'shop', profile: '\u001b[31mred' }]),
    });
    assert.ok(!(checkText(report) + checkShort(report)).includes('\u001b'));
    const painted = checkText(report, { paint: (style, text) => `<${style}>${text}</>` });
    assert.match(painted, /^<red>1 of \d+ checks failed/);
    assert.match(painted, /^<green>✓<\/> kubernetes-version /m);
  });
});

test('many namespaces: the text proposes for 20 of them and says how many more there are; JSON has all', () => {
  const many = Array.from({ length: 5000 }, (_, at) => ({
    name: `ns-${String(at).padStart(4, '0')}`,
    profile: undefined,
    fits: ['cilium'],
  }));
  const report = preReport({ namespaces: found(many) });
  assert.equal(report.proposals.length, 5000);
  const commands = checkText(report).match(/^ {4}kubectl label namespace ns-\d+ /gm) ?? [];
  assert.deepEqual([commands.length, new Set(commands).size], [20, 20]);
  assert.match(checkText(report), /and 4980 more: "--output json" lists them\n$/);
});

test('pods that may not be read: the check of networks says what is therefore not proposed', () => {
  const { checks } = preReport({ podsUnread: 'pods may not be read' });
  const { what } = checks.find(({ id }) => id === 'networks') ?? {};
  assert.match(what ?? '', /no profile is proposed, as pods may not be read$/);
});

test('a pod that was refused by a policy, by our answer, by a time-out or by a certificate: a hint for each', () => {
  const reasons = [
    'policy',
    'policy-configuration',
    'webhook',
    'webhook-call',
    'webhook-trust',
    'silence',
  ] as const;
  const hints = reasons.map((reason) => {
    const { checks } = installedReport({
      probe: { namespace: 'shop', outcome: 'failed', what: 'refused', reason },
    });
    return checks.find(({ id }) => id === 'probe')?.hint ?? '';
  });
  assert.equal(new Set(hints).size, reasons.length);
  assert.deepEqual(
    hints.map((hint) => /firewalls/.test(hint)),
    reasons.map((reason) => reason === 'webhook-call'),
  );
});

test('a pod that passes while the Service leads to no replica: the check says over which connection', () => {
  const { probe } = installed();
  const { checks } = installedReport({ ...noEndpoints, probe });
  const [service, tried] = ['service', 'probe'].map((wanted) => checks.find(({ id }) => id === wanted));
  assert.deepEqual([service?.result, tried?.result], ['failed', 'passed']);
  assert.match(tried?.what ?? '', /, over a connection that the API server opened before: a new one fails$/);
});

suite('a pod that was not tried', () => {
  const made = (probe: InstalledFacts['probe'], more: Partial<InstalledFacts> = {}) => {
    const { checks, verdict, headline } = installedReport({ probe, ...more });
    const { result, what } = checks.find(({ id }) => id === 'probe') ?? {};
    return { verdict, headline, result, what };
  };

  test('without the right to create it: no pass, and no verdict', () => {
    const { verdict, headline, result } = made(mayNotCreate);
    assert.deepEqual([verdict, result], ['not-known', 'not-known']);
    assert.match(headline, /^It is not known whether all is well: 18 checks passed\. Not known: probe\.$/);
  });

  test('with --no-probe: a verdict that says so', () => {
    const { verdict, headline, result, what } = made(undefined);
    assert.deepEqual([verdict, result], ['passed', 'not-known']);
    assert.equal(headline, 'All 18 checks passed. Not known: probe.');
    assert.match(what ?? '', /--no-probe/);
  });

  test('another policy refuses it: no verdict, and a hint of its own', () => {
    const what = "ValidatingAdmissionPolicy 'mine' denied request: label team is missing";
    const probe = { namespace: 'shop', outcome: 'not-made', what, reason: 'other' } as const;
    assert.equal(made(probe).verdict, 'not-known');
    const text = checkText(installedReport({ probe }), { width: 400 });
    assert.match(text, /label team is missing\n +Not cni-gate refused the pod, .*--no-probe\n/);
  });

  const nowhere = { namespace: null, outcome: 'not-made', what: 'none', reason: 'no-namespace' } as const;

  test('no namespace opted in: the check does not apply', () => {
    const { verdict, result } = made(nowhere, { namespaces: found([]) });
    assert.deepEqual([verdict, result], ['passed', 'skipped']);
  });

  test('namespaces may not be listed: no verdict', () => {
    const { verdict, result } = made(nowhere, { namespaces: forbidden('namespaces', 'namespaces') });
    assert.deepEqual([verdict, result], ['not-known', 'not-known']);
  });
});

suite('a configuration that is not known', () => {
  const trouble = { code: 'CNI_GATE_CLUSTER_FORBIDDEN', message: 'cannot get', right: 'verb "get"' } as const;
  const configuration = { ...installed().configuration, trouble };
  const policies = wholeInstallation.policies.map((pair) => ({
    ...pair,
    binding: found({
      policyName: pair.name,
      actions: ['Warn'],
      narrowed: false,
      params: undefined,
      paramsObject: undefined,
    }),
  }));

  test('says nothing of labels, of the leader, and of a policy that warns, which the configuration may ask for', () => {
    const namespaces = found([{ name: 'shop', profile: 'of-their-own' }]);
    const lease = found({ holder: '', renewed: undefined, duration: 15_000 });
    const installation = { ...wholeInstallation, policies: policies.slice(0, 1), lease };
    const { verdict, checks } = installedReport({ configuration, namespaces, installation });
    assert.equal(verdict, 'passed');
    assert.deepEqual(
      checks.filter(({ result }) => result === 'not-known').map(({ id }) => id),
      ['configuration', 'policy-pods', 'leader', 'namespace-labels', 'daemonsets'],
    );
  });

  test('still fails for a policy that no configuration lets warn, and for one that is gone', () => {
    const installation = { ...wholeInstallation, policies };
    const failed = installedReport({ configuration, installation }).checks.filter(
      ({ result }) => result === 'failed',
    );
    assert.deepEqual(
      failed.map(({ id }) => id),
      ['policy-service-account'],
    );
  });

  test('an invalid one fails, with its code', () => {
    const invalid = { code: 'CNI_GATE_CONFIG_INVALID', message: 'config.yaml: gate.mode' } as const;
    const { headline } = installedReport({ configuration: { ...configuration, trouble: invalid } });
    assert.match(headline, /^1 of \d+ checks failed\. configuration: .*\(CNI_GATE_CONFIG_INVALID\)$/);
  });
});

suite('each fault alone is the first, and nothing else fails', () => {
  const installation = (more: Partial<InstalledFacts['installation']>): Partial<InstalledFacts> => ({
    installation: { ...wholeInstallation, ...more },
  });
  const rights = installed().serverRights;
  const cases: Record<string, Partial<InstalledFacts>> = {
    deployment: installation({ deployment: found({ desired: 2, ready: 1, updated: 2, stuck: undefined }) }),
    certificate: installation({
      certificate: found({ secret: 'a/b', webhooks: [{ name: 'pods.cni-gate.io', fault: 'it is old' }] }),
    }),
    'policy-pods': installation({
      policies: wholeInstallation.policies.map((pair, at) =>
        at === 0 ? { ...pair, binding: 'absent' } : pair,
      ),
    }),
    'webhook-pods': { registered: { ...allRegistered, mutating: allRegistered.mutating?.slice(1) } },
    'webhook-bindings': { registered: { ...allRegistered, validating: allRegistered.validating?.slice(1) } },
    'server-rights': {
      serverRights: found(
        (typeof rights === 'object' && 'found' in rights ? rights.found : []).map((one) => ({
          ...one,
          allowed: false,
        })),
      ),
    },
    'namespace-labels': { namespaces: found([{ name: 'shop', profile: 'cillium' }]) },
    daemonsets: { daemonSets: found([]) },
    probe: {
      probe: { namespace: 'shop', outcome: 'failed', what: 'it came back as it was', reason: 'not-called' },
    },
    'kubernetes-apis': { apis: new Map() },
  };
  for (const [id, facts] of Object.entries(cases)) {
    test(id, () => {
      const { checks, headline } = installedReport(facts);
      assert.deepEqual(
        checks.filter(({ result }) => result === 'failed').map((check) => check.id),
        [id],
      );
      assert.ok(headline.includes(` checks failed. ${id}: `), headline);
    });
  }
});
