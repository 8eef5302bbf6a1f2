import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { Readiness } from '../../../webhook/readiness/readiness.ts';
import { toAgentFacts, toDaemonSetFacts, toNodeFacts } from '../../../webhook/readiness/to-facts.ts';
import { statusOf } from '../../../webhook/status/compose.ts';
import type { PodFacts, StatusFacts } from '../../../webhook/status/facts.ts';
import { statusText } from '../../../webhook/status/text.ts';
import { policyOf } from '../../support/configurations.ts';
import { clusterWith } from '../gate/support.ts';
import { apiAgent, apiDaemonSet, apiNode, now } from '../readiness/objects.ts';
import { node, usage } from '../steer/support.ts';
import { allRegistered, client, evidenceOf, holdOf, wholeInstallation } from './objects.ts';

const profiles = [
  { name: 'mesh', daemonSets: [{ namespace: 'net', name: 'agent' }] },
  { name: 'lost', daemonSets: [{ namespace: 'net', name: 'nobody' }] },
];
const policy = policyOf({ profiles });
const minuteAgo = now - 60_000;

/** A cluster in which all of cni-gate is registered and steers. */
const inForce: Pick<StatusFacts, 'registered' | 'installation' | 'scheduler'> = {
  registered: allRegistered,
  installation: wholeInstallation,
  scheduler: { version: 'v1.36.3', goesByNominations: true },
};

/** The last events of pods, by UID. */
const notes: Record<string, string> = {
  'late-0-uid':
    'Failed to create pod sandbox: plugin type="multus" failed (add): error getting IPAM addresses: range is full',
  'bad-0-uid':
    'the proof of the network of pod bad-0 failed on node n1, and the pod is not recreated: its node is not ready for it, and no other node is',
};

/** A cluster in which something of everything is wrong. */
const troubled = (): StatusFacts => ({
  policy,
  registered: { ...allRegistered, validating: [] },
  scheduler: inForce.scheduler,
  installation: {
    ...wholeInstallation,
    deployment: { found: { desired: 2, ready: 1, updated: 2, stuck: undefined } },
  },
  readiness: clusterWith({
    n1: {},
    n3: { ready: false, waiting: 'CrashLoopBackOff' },
    n2: undefined,
    n4: { ready: false, createdAt: new Date(minuteAgo).toISOString() },
  }),
  namespaces: [
    { name: 'shop', profile: 'mesh.lost' },
    { name: 'typo', profile: 'mehs' },
    { name: 'plain', profile: undefined },
  ],
  pods: [
    {
      namespace: 'shop',
      name: 'web-2',
      proof: 'waiting',
      held: holdOf('web-2', {
        refused: 'n3',
        since: minuteAgo,
        nominated: 'n1',
        why: 'DaemonSet net/agent is rebooted there (pod agent-n3): no container of its pod was started',
      }),
    },
    {
      namespace: 'shop',
      name: 'web-1',
      proof: 'waiting',
      held: holdOf('web-1', { refused: 'n2', since: undefined, nominated: '', why: '' }),
    },
    { namespace: 'shop', name: 'web-0', node: 'n1', proof: 'passed' },
    { namespace: 'shop', name: 'old', node: 'n1', proof: 'unproved', unproved: 'not-reviewed' },
    { namespace: 'shop', name: 'odd', node: 'n3', proof: 'unproved', unproved: 'not-first' },
    ...['bad-0', 'bad-1'].map((name): PodFacts => {
      const times = { at: minuteAgo, startedAt: minuteAgo - 10_000 };
      const evidence = evidenceOf(name, { verdict: 'failed', failedProfiles: ['mesh'], ...times });
      const seen = 'mesh redirect IPv4 not-redirected: saw no answer from 192.0.2.2:1404';
      return { namespace: 'shop', name, node: 'n1', proof: 'failed', evidence, seen };
    }),
    {
      namespace: 'shop',
      name: 'late-0',
      node: 'n1',
      proof: 'waiting',
      evidence: evidenceOf('late-0', { verdict: 'waiting', at: minuteAgo, hasSandbox: false }),
    },
    ...['one', 'two'].map((name): PodFacts => {
      const evidence = evidenceOf(name, { addresses: ['fd00::17', 'shop/storage/10.9.0.7'] });
      return { namespace: 'shop', name, node: 'n1', proof: 'passed', evidence };
    }),
  ],
  podEvent: (uid) => {
    const note = notes[uid];
    return note === undefined ? undefined : { note, stopped: false };
  },
});

const well = (): StatusFacts => ({
  policy,
  ...inForce,
  readiness: clusterWith({ n1: {}, n2: {} }),
  namespaces: [{ name: 'shop', profile: 'mesh' }],
  pods: [{ namespace: 'shop', name: 'web-0', node: 'n1', proof: 'passed' }],
});

/** Trouble in a cluster whose names are as long as they mostly are. */
function ordinary(): StatusFacts {
  const daemonSets = [{ namespace: 'linkerd-cni', name: 'linkerd-cni' }];
  const readiness = new Readiness();
  const own = { ...toDaemonSetFacts(apiDaemonSet('linkerd-cni')), namespace: 'linkerd-cni' };
  readiness.apply({ kind: 'daemonset', facts: own }, now);
  const nodes = ['ip-10-0-12-34.eu-central-1.compute.internal', 'gke-prod-pool-1-5f3a9c1e-x7k2', 'worker-3'];
  for (const [at, name] of nodes.entries()) {
    const facts = node(name, { taints: at === 1 ? [{ key: 'gpu', value: '', effect: 'NoSchedule' }] : [] });
    readiness.apply({ kind: 'node', facts, listed: true }, now);
    const agent = {
      name: 'linkerd-cni-x7k2p',
      ready: at === 1,
      waiting: 'CrashLoopBackOff',
      owner: 'linkerd-cni',
    };
    const picked = { ...toAgentFacts(apiAgent(name, { ...agent, uid: name })), namespace: 'linkerd-cni' };
    readiness.apply({ kind: 'agent', facts: picked }, now);
  }
  const refused = nodes[0] ?? '';
  const why =
    'DaemonSet linkerd-cni/linkerd-cni is broken there since 2026-11-21T11:30:00Z (pod linkerd-cni-x7k2p): its pod is not Ready: install-cni (CrashLoopBackOff)';
  const name = 'checkout-6f9c8d7b5-x2x7k';
  const more = { profiles: ['linkerd'] };
  return {
    policy: policyOf({ profiles: [{ name: 'linkerd', daemonSets }] }),
    ...inForce,
    readiness,
    usage: () => usage({}),
    namespaces: [{ name: 'shop', profile: 'linkerd' }],
    pods: [
      {
        namespace: 'shop',
        name,
        proof: 'waiting',
        held: holdOf(name, { refused, since: now - 12 * 60_000, nominated: '', why }, more),
      },
      {
        namespace: 'shop',
        name: 'cart-7d4b9c6f8-k2m4p',
        node: 'worker-3',
        proof: 'unproved',
        unproved: 'not-reviewed',
      },
    ],
  };
}

const tell = (facts: StatusFacts, all = false, namespace?: string) =>
  statusOf(facts, { client, configuration: 'cni-gate.yaml', now, all, namespace });

/** Compares with a file; `UPDATE_GOLDEN=1` writes it anew. */
function golden(name: string, text: string): void {
  const file = new URL(`./golden/${name}`, import.meta.url);
  if (process.env.UPDATE_GOLDEN === '1') writeFileSync(file, text);
  const expected = readFileSync(file, 'utf8');
  if (name.endsWith('.json')) assert.deepEqual(JSON.parse(text), JSON.parse(expected));
  else assert.equal(text, expected);
}

suite('the status as text and as JSON', () => {
  for (const [name, facts] of Object.entries({ troubled: troubled(), well: well() })) {
    const status = tell(facts);
    test(`${name}: text`, () => golden(`${name}.txt`, statusText(status, false, { width: 100 })));
    test(`${name}: json`, () => golden(`${name}.json`, `${JSON.stringify(status, null, 2)}\n`));
  }
  test('--all includes ready nodes', () => {
    const status = tell(well(), true);
    assert.deepEqual(
      status.nodes.map(({ node, state }) => [node, state]),
      [
        ['n1', 'ready'],
        ['n2', 'ready'],
      ],
    );
    assert.equal(status.well, true);
  });
});

test('urgent nodes come first, and those of unused profiles last', () => {
  const agents = {
    n1: { ready: false, createdAt: new Date(minuteAgo).toISOString() },
    n2: undefined,
    n3: { ready: false },
  };
  const order = (more: Partial<StatusFacts>): string[] =>
    tell({ ...well(), readiness: clusterWith(agents), ...more }).nodes.map(
      ({ daemonSet, node }) => `${daemonSet} ${node}`,
    );
  const expected = ['n3', 'n2', 'n1'].map((node) => `net/agent ${node}`);
  assert.deepEqual(order({}), expected);
  const other = { name: 'a-other', daemonSets: [{ namespace: 'net', name: 'other' }] };
  const readiness = clusterWith(agents);
  readiness.apply({ kind: 'daemonset', facts: toDaemonSetFacts(apiDaemonSet('other')) }, now);
  assert.deepEqual(
    order({ readiness, policy: policyOf({ profiles: [other, ...profiles] }) }).slice(0, 3),
    expected,
  );
});

suite('verdict well', () => {
  test('a node that is not ready for an unused network is listed, and the verdict stays well', () => {
    const status = tell({ ...troubled(), ...inForce, namespaces: [], pods: [] });
    assert.equal(status.well, true);
    assert.equal(status.nodes.length, 3);
    assert.deepEqual(
      status.daemonSets.map(({ name, inUse }) => [name, inUse]),
      [['agent', false]],
    );
    assert.match(statusText(status, false), /^No namespace has opted in\.$/m);
  });

  test('a profile that only a pod asks for is in use', () => {
    const pods: PodFacts[] = [{ namespace: 'shop', name: 'x', profile: 'lost', proof: 'waiting' }];
    const { well: isWell, faults } = tell({ ...well(), pods });
    assert.equal(isWell, false);
    assert.deepEqual(
      faults.map(({ code }) => code),
      ['CNI_GATE_DAEMONSET_UNKNOWN'],
    );
  });

  test('a namespace whose label names an unknown profile, or profiles that cannot be joined, is not well', () => {
    for (const [profile, code, message] of [
      [
        'mehs',
        'CNI_GATE_PROFILE_UNKNOWN',
        /^namespace shop: .*: did you mean mesh\? The configuration has: .*mesh/,
      ],
      ['mesh.mesh', 'CNI_GATE_PROFILE_JOIN', /^namespace shop: profile "mesh\.mesh" names a profile twice$/],
    ] as const) {
      const status = tell({ ...well(), namespaces: [{ name: 'shop', profile }], pods: [] });
      assert.equal(status.well, false);
      assert.deepEqual(
        status.faults.map((fault) => fault.code),
        [code],
      );
      assert.match(status.faults[0]?.message ?? '', message);
      assert.match(statusText(status, false), new RegExp(`\\(${code}\\)`));
    }
  });

  test('-n with a namespace that has not opted in is not well, and the text says how to opt in', () => {
    const facts = { ...well(), namespaces: [{ name: 'plain', profile: undefined }], pods: [] };
    assert.equal(tell(facts).well, true);
    const status = tell(facts, false, 'plain');
    assert.equal(status.well, false);
    assert.deepEqual(
      status.faults.map(({ code }) => code),
      ['CNI_GATE_NOT_OPTED_IN'],
    );
    const text = statusText(status, false, { width: 1000 });
    assert.match(text, /^Namespace plain has not opted in\.$/m);
    assert.match(
      text,
      /kubectl label --overwrite namespace plain cni-gate\.io\/profile=PROFILE, of .*, lost,/,
    );
    assert.doesNotMatch(text, /^No namespace|All is well/m);
    assert.equal(tell(well(), false, 'shop').well, true);
  });

  const one: [string, Partial<StatusFacts>][] = [
    ['a webhook for pods that is not registered', { registered: { ...allRegistered, mutating: [] } }],
    ['a pod that is held', { pods: troubled().pods }],
    ['a label that names no profile', { namespaces: [{ name: 'typo', profile: 'mehs' }] }],
    ['a node without the DaemonSet pod', { readiness: clusterWith({ n1: undefined }) }],
    ['a DaemonSet that does not exist', { readiness: new Readiness() }],
  ];
  for (const [name, more] of one) {
    test(`${name} is not well`, () => assert.equal(tell({ ...well(), ...more }).well, false));
  }
});

suite('5,000 nodes', () => {
  const readiness = clusterWith({ n0: {} });
  for (let at = 1; at < 5000; at++) {
    readiness.apply({ kind: 'node', facts: toNodeFacts(apiNode(`n${at}`, 'b1', 1)), listed: true }, now);
  }
  const status = tell({ ...well(), readiness });

  test('the text stays short where most are not ready, and has their number', () => {
    const text = statusText(status, false);
    assert.ok(text.split('\n').length < 75, text);
    assert.match(text, /^and 4949 more: --all shows them$/m);
    assert.match(text, /not ready: 4999/);
  });

  test('JSON and --all have all of them', () => {
    assert.equal(status.nodes.length, 4999);
    assert.ok(statusText(status, true).split('\n').length > 4999);
  });
});

test('the reference describes every field of the JSON, and no other', () => {
  const page = readFileSync(new URL('../../../docs/reference/command-line.md', import.meta.url), 'utf8');
  const table = /^\| field +\|.*?\n\n/ms.exec(page.slice(page.indexOf('## status')))?.[0] ?? '';
  const rows = new Map(
    [...table.matchAll(/^\| `(\w+)` +\| (.*) \|$/gm)].map(([, name, text]) => [name, text]),
  );
  const status: object = tell(troubled());
  assert.deepEqual([...rows.keys()], Object.keys(status));
  for (const [name, value] of Object.entries(status)) {
    if (!Array.isArray(value) || ['notKnown', 'leftBehind'].includes(name)) continue;
    for (const key of Object.keys(value[0]))
      assert.ok(rows.get(name)?.includes(`\`${key}\``), `${name}.${key}`);
  }
});

test('control characters from the cluster do not reach the terminal', () => {
  const namespaces = [{ name: 'shop\u001b[2J', profile: 'mesh' }];
  const pods: PodFacts[] = [{ namespace: 'shop\u001b[2J', name: 'x', proof: 'passed' }];
  assert.ok(!statusText(tell({ ...well(), namespaces, pods }), false).includes('\u001b'));
});

suite('the width of the text', () => {
  // the first line is never broken: scripts look at it
  const widest = (text: string): number =>
    Math.max(
      ...text
        .split('\n')
        .slice(1)
        .map((line) => line.length),
    );

  test('is that of the terminal for sentences; a head and a row are one line, and no text is lost', () => {
    const wide = statusText(tell(ordinary()), false);
    golden('ordinary.txt', statusText(tell(ordinary()), false, { width: 100 }));
    const words = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '-');
    for (const width of [60, 80, 120]) {
      const text = statusText(tell(ordinary()), false, { width });
      assert.match(text, /^NODE +DAEMONSET +STATE +AGE +POD/m);
      assert.match(text, /^worker-3 +linkerd-cni\/linkerd-cni +broken +30m +linkerd-cni-x7k2p/m);
      const lost = new Set(words(wide)).difference(new Set(words(text)));
      assert.deepEqual(
        [...lost].filter((word) => !/^[A-Z]+$/.test(word)),
        [],
        `${width}`,
      );
    }
    assert.ok(widest(statusText(tell(ordinary()), false, { width: 120 })) <= 120);
  });

  test('has no limit in a pipe: each row is one line', () => {
    const text = statusText(tell(ordinary()), false);
    golden('pipe.txt', text);
    assert.equal(text.match(/^worker-3 .*$/gm)?.length, 1);
    assert.match(
      text,
      /^shop\/checkout-6f9c8d7b5-x2x7k .* 12m .*is broken there since .*no other node takes it/m,
    );
  });

  test('of -o wide has no limit, and times beside ages', () => {
    const text = statusText(tell(ordinary()), false, { times: true });
    assert.match(text, /^NODE +DAEMONSET +STATE +SINCE +POD +WHY$/m);
    assert.match(text, /^worker-3 .* 2026-11-21T11:30:00Z \(30m\) .*CrashLoopBackOff/m);
  });
});

test('colours mark states and heads, and change nothing else', () => {
  const text = statusText(tell(ordinary()), false, { paint: (style, part) => `<${style}>${part}</>` });
  assert.equal(text.replaceAll(/<\/?\w*>/g, ''), statusText(tell(ordinary()), false));
  assert.match(text, / {2}<red>broken<\/>/);
  assert.match(text, /<bold>NODE<\/>/);
  assert.match(text, /^steer +nominate +<green>yes<\/>/m);
});

suite('pods by the state of their checks', () => {
  const pods: PodFacts[] = [
    { namespace: 'shop', name: 'a', proof: 'passed' },
    { namespace: 'shop', name: 'b', proof: 'passed' },
    { namespace: 'shop', name: 'c', proof: 'failed' },
    { namespace: 'bank', name: 'd', proof: 'optedOut' },
    { namespace: 'bank', name: 'e', proof: 'leftAlone' },
    { namespace: 'bank', name: 'f', proof: 'waiting' },
  ];
  const namespaces = ['bank', 'empty', 'shop'].map((name) => ({ name, profile: 'mesh' }));

  test('are counted per namespace, and in total', () => {
    const status = tell({ ...well(), namespaces, pods });
    const none = { passed: 0, failed: 0, waiting: 0, optedOut: 0, unproved: 0, leftAlone: 0 };
    assert.deepEqual(
      status.namespaces.map(({ name, pods: counts }) => [name, counts]),
      [
        ['bank', { ...none, optedOut: 1, leftAlone: 1, waiting: 1 }],
        ['empty', none],
        ['shop', { ...none, passed: 2, failed: 1 }],
      ],
    );
    assert.deepEqual(status.pods, {
      passed: 2,
      failed: 1,
      waiting: 1,
      optedOut: 1,
      unproved: 0,
      leftAlone: 1,
    });
    const text = statusText(status, false);
    assert.match(
      text,
      /^NAMESPACE {2}PASSED {2}FAILED {2}WAITING {2}OPTED OUT {2}UNPROVED {2}LEFT ALONE\nbank {7}0 {7}0 {7}1 {8}1 {10}0 {9}1\nshop {7}2 {7}1 {7}0 {8}0 {10}0 {9}0\nall {8}2 {7}1 {7}1 {8}1 {10}0 {9}1$/m,
    );
  });

  test('stay short where there are many namespaces, and the total has all of them', () => {
    const many = Array.from({ length: 400 }, (_, at) => `ns-${at}`);
    const status = tell({
      ...well(),
      namespaces: many.map((name) => ({ name, profile: 'mesh' })),
      pods: many.map((namespace) => ({ namespace, name: 'x', proof: 'passed' })),
    });
    const text = statusText(status, false);
    assert.ok(text.split('\n').length < 75);
    assert.match(text, /^all +400 /m);
    assert.match(text, /^and 350 more namespaces, which are counted in all: --all shows them$/m);
    assert.ok(statusText(status, true).split('\n').length > 400);
  });
});

test('unknown parts lead to a line that names the role with the rights', () => {
  const text = statusText(tell({ ...well(), scheduler: undefined }), false);
  assert.match(text, /^ClusterRole cni-gate-status has the rights to all that is not known here\.$/m);
  assert.doesNotMatch(statusText(tell(well()), false), /ClusterRole/);
});
