import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type NodeFacts, toNodeFacts } from '../../../../webhook/core/facts/node.ts';
import type { PodEvidence } from '../../../../webhook/core/facts/pod-evidence.ts';
import { evidencePick } from '../../../../webhook/core/facts/to-pod-evidence.ts';
import { decide } from '../../../../webhook/leader/repair/decide.ts';
import { networkOn, type OtherNodes, otherNodes } from '../../../../webhook/leader/repair/networks.ts';
import { evidencePods, planLimits, repairLimits } from '../../../../webhook/lib/limits.ts';
import { policyOf } from '../../../support/configurations.ts';
import { clusterWith } from '../../admission/gate/support.ts';
import { apiNode, now } from '../../core/networks/objects.ts';
import { evidenceWith, type Shown, start } from '../../core/networks/support.ts';
import { controllerOf, factsWith, failedPod, lostPod, openNode } from './support.ts';

const second = 1000;

/** The decision as a string: `recreate`, or the reason why repair leaves the pod alone. */
function wordFor(...[pod, facts]: Parameters<typeof decide>): string {
  const decision = decide(pod, facts);
  return 'how' in decision ? 'recreate' : decision.reason;
}

const pod = failedPod({ name: 'a', startedAt: start - 11 * second, at: start - second });

suite('which pods', () => {
  for (const [change, expected] of [
    [{ leaving: true }, 'leaving'],
    [{ ended: true }, 'ended'],
    [{ warned: true }, 'warn-mode'],
    [{ controller: undefined }, 'no-controller'],
    [{ controller: { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'n' } }, 'unknown-controller'],
    [{ controller: { ...controllerOf('a'), apiVersion: 'v1' } }, 'unknown-controller'],
    [
      { controller: { ...controllerOf('a', 'ReplicationController'), apiVersion: 'apps/v1' } },
      'unknown-controller',
    ],
    [{ controller: { ...controllerOf('a'), apiVersion: 'example.com/v1' } }, 'unknown-controller'],
  ] as const) {
    test(`failed, ${JSON.stringify(change)}: ${expected}`, () =>
      assert.equal(wordFor(failedPod({ name: 'a', ...change }), factsWith()), expected));
  }

  test('whose network is lost: only if its profile requests it, and no other pod of its controller waits', () => {
    const lost = lostPod({ name: 'a' });
    assert.equal(wordFor(lost, factsWith()), 'recreate');
    assert.equal(wordFor(lost, { ...factsWith(), recreatesLost: () => false }), 'unready');
    const ownedBy = () => [failedPod({ name: 'b', verdict: 'waiting' })];
    assert.equal(wordFor(lost, { ...factsWith(), ownedBy }), 'owner-turn');
    const failed = { ...factsWith(), recreatesLost: () => false, ownedBy };
    assert.equal(wordFor(failedPod({ name: 'a' }), failed), 'recreate');
    assert.equal(wordFor(lostPod({ name: 'a', controller: undefined }), factsWith()), 'no-controller');
  });

  test('whose network was lost before another pod passed there, but not afterwards', () => {
    const lost = lostPod({ name: 'a' });
    for (const [after, expected] of [
      [-1, false],
      [1, true],
    ] as const) {
      const turns: { proven: boolean; lost: boolean }[] = [];
      const facts = factsWith({ passedAt: { at: (lost.unready?.at ?? 0) + after } });
      decide(lost, { ...facts, limit: (_, given) => void turns.push(given) });
      assert.deepEqual([turns[0]?.proven, turns[0]?.lost], [expected, true]);
    }
  });

  test('failed in warn mode while the configuration warns: would be recreated', () => {
    const facts = { ...factsWith(), enforces: false };
    assert.equal(wordFor(failedPod({ name: 'a', warned: true }), facts), 'recreate');
  });

  for (const [kind, how] of [
    ['ReplicaSet', 'delete'],
    ['StatefulSet', 'delete'],
    ['DaemonSet', 'delete'],
    ['Job', 'release-and-delete'],
    ['ReplicationController', 'delete'],
  ] as const) {
    test(`of a ${kind}: ${how}`, () => {
      const decision = decide(failedPod({ name: 'a', controller: controllerOf('a', kind) }), factsWith());
      assert.equal('how' in decision && decision.how, how);
    });
  }

  for (const [apiVersion, kind, owner, expected] of [
    ['example.com/v1', 'Set', 'example.com/*', 'recreate'],
    ['v1', 'Set', 'v1', 'recreate'],
    ['example.com/v1', 'Other', 'example.com/*', 'unknown-controller'],
    ['example.org/v1', 'Set', 'example.com/*', 'unknown-controller'],
  ] as const) {
    test(`of ${kind} of ${apiVersion}, where the configuration names Set of ${owner}: ${expected}`, () => {
      const controller = { apiVersion, kind, name: 'a', uid: 'a' };
      const { repair } = policyOf({ repair: { owners: [{ apiVersion: owner, kind: 'Set' }] } });
      const facts = { ...factsWith(), owners: repair.owners };
      assert.equal(wordFor(failedPod({ name: 'a', controller }), facts), expected);
    });
  }
});

suite('a failed pod of a StatefulSet waits for one with a lower ordinal', () => {
  const podOf = (ordinal: number, more: Partial<PodEvidence> = {}, kind = 'StatefulSet') =>
    failedPod({ name: `db-${ordinal}`, controller: controllerOf('db', kind), ...more });
  const waiting = (seconds: number) => ({ verdict: 'waiting', at: start - seconds * second }) as const;
  const unready = { run: 1, at: start, shownBy: '7', patience: 10_000 };
  for (const [what, other, expected, kind] of [
    ['that failed', podOf(2), 'owner-turn'],
    ['not for a higher one', podOf(11), 'recreate'],
    ['that is not ready', podOf(0, { verdict: 'passed', unready }), 'owner-turn'],
    ['not if it passed', podOf(0, { verdict: 'passed' }), 'recreate'],
    ['that will soon have a verdict', podOf(0, waiting(59)), 'owner-turn'],
    ['not for longer than a minute', podOf(0, waiting(60)), 'recreate'],
    ['not if it runs in warn mode', podOf(0, { warned: true }), 'recreate'],
    ['not in a ReplicaSet, even if it is lost', podOf(2), 'recreate', 'ReplicaSet'],
  ] as const) {
    test(what, () =>
      assert.equal(
        wordFor(podOf(10, kind && { verdict: 'passed', unready }, kind), {
          ...factsWith(),
          now: start,
          ownedBy: () => [other],
        }),
        expected,
      ),
    );
  }
});

suite('whether a new pod helps', () => {
  test('the pod is to move from a node that is closed or unproved if another node is open', () => {
    for (const state of ['closed', 'try', 'unproved'] as const) {
      const decision = decide(failedPod({ name: 'a' }), factsWith({ state }, { elsewhere: true }));
      assert.equal('how' in decision && decision.moves, true, state);
    }
  });

  const elsewhere = { elsewhere: true };
  for (const [what, given, other, expected] of [
    ['the node does not report', { state: 'unreachable' }, elsewhere, 'node-unreachable'],
    ['the node is not ready', { state: 'closed' }, {}, 'node-not-ready'],
    [
      'the node is not ready, another is',
      { state: 'closed', why: 'it is cordoned' },
      elsewhere,
      'node n1 is not ready for it, and another node is: it is cordoned',
    ],
    [
      'a proof has passed on the node since',
      { passedAt: { at: start - 10 * second } },
      {},
      'a proof of another pod has passed on node n1 since',
    ],
    [
      'a proof was seen to pass since, and the clock of the node was set back',
      { passedAt: { at: start - 20 * second, after: '11', shownBy: '12' } },
      {},
      'a proof of another pod has passed on node n1 since',
    ],
    [
      'no proof has passed on the node since',
      { state: 'try' },
      {},
      'node n1 is ready, and a new pod shows whether its network works',
    ],
    [
      'no proof has passed on the node, another is ready',
      { state: 'try' },
      elsewhere,
      'node n1 gets one pod at a time, and another node is ready',
    ],
    ['the gate lets no pod through there', { state: 'unproved' }, {}, 'node-to-prove'],
  ] as const) {
    test(`${what}: ${expected}`, () => {
      const decision = decide(pod, factsWith(given, other));
      assert.equal('how' in decision ? decision.why : decision.reason, expected);
    });
  }

  test('a pod of a DaemonSet whose node is not ready, although another is: its replacement would run on the same node', () => {
    const daemon = failedPod({ name: 'd', controller: controllerOf('d', 'DaemonSet') });
    assert.equal(wordFor(daemon, factsWith({ state: 'closed' }, elsewhere)), 'node-not-ready');
  });

  test('one of two profiles is not ready: left alone', () => {
    const both = failedPod({ name: 'a', profiles: ['cni', 'mesh'], failedProfiles: ['mesh'] });
    const facts = factsWith();
    facts.node = (_, profile) => ({ ...openNode, state: profile === 'cni' ? 'closed' : 'open' });
    assert.equal(wordFor(both, facts), 'node-not-ready');
  });

  test('both of its profiles failed, and a proof has passed for one: the other one must be proved', () => {
    const both = { ...pod, profiles: ['cni', 'mesh'], failedProfiles: ['cni', 'mesh'] };
    const facts = factsWith();
    const proven = { ...openNode, passedAt: { at: start } };
    facts.node = (_, profile) => (profile === 'cni' ? proven : { ...openNode, state: 'unproved' });
    assert.equal(wordFor(both, facts), 'node-to-prove');
  });
});

const mesh = {
  name: 'mesh',
  daemonSets: [{ namespace: 'net', name: 'agent' }],
  proof: { checks: [{ address: { timeout: '5s' } }] },
};

function networks(shown: Shown[] = [], agents: Parameters<typeof clusterWith>[0] = {}, profile: object = {}) {
  const readiness = clusterWith({ n1: { ready: true }, n2: { ready: true }, ...agents });
  const policy = policyOf({ profiles: [{ ...mesh, ...profile }] });
  const known = { policy, readiness, evidence: evidenceWith(shown), now };
  return {
    readiness,
    others: () => otherNodes(known),
    on: (node: string) => networkOn(node, 'mesh', known, 'web'),
  };
}

function elsewhere(others: OtherNodes, spec: object, node = 'n1', namespace = 'shop'): boolean {
  const ended = { exitCode: 95, startedAt: iso(start), finishedAt: iso(start) };
  const metadata = {
    uid: 'u',
    name: 'web-1',
    namespace,
    resourceVersion: '1',
    creationTimestamp: iso(start),
  };
  const status = {
    initContainerStatuses: [{ name: 'cni-gate-validator', state: { terminated: ended } }],
  };
  const pod = evidencePick()({ metadata, spec: { nodeName: node, ...spec }, status });
  return others({ ...pod, profiles: ['mesh'] });
}

const iso = (time: number): string => new Date(time).toISOString();

suite('another node for a failed pod', () => {
  const host = 'kubernetes.io/hostname';
  const zone = 'topology.kubernetes.io/zone';
  const taint = { key: 'a', effect: 'NoSchedule' };
  const tolerant = { tolerations: [{ key: 'a', operator: 'Exists' }] };
  const claim = { volumes: [{ name: 'data', persistentVolumeClaim: { claimName: 'data' } }] };

  function nodes(differs: Partial<NodeFacts>): OtherNodes {
    const { readiness, others } = networks();
    const labels = { [host]: 'n1', [zone]: 'a' };
    for (const facts of [{ ...toNodeFacts(apiNode('n1', 'b1', 2)), labels }, n2With(differs)]) {
      readiness.setNode(facts, now);
    }
    return others();
  }
  const n2With = (differs: Partial<NodeFacts>): NodeFacts => ({
    ...toNodeFacts(apiNode('n2', 'b1', 2)),
    labels: { [host]: 'n2', [zone]: 'b' },
    ...differs,
  });

  const longest = evidencePods.requiredCharacters;
  const tolerating = (count: number, key = 'k') => ({
    tolerations: Array(count).fill({ key, operator: 'Exists' }),
  });
  const cases: [name: string, spec: object, n2: Partial<NodeFacts>, found: boolean][] = [
    ['is found if the pod has no requirements', {}, {}, true],
    ['is not found with a taint', {}, { taints: [taint] }, false],
    ['is found with a taint that the pod tolerates', tolerant, { taints: [taint] }, true],
    ['is not found where it is cordoned', {}, { unschedulable: true }, false],
    ['is not found if its node selector names its node', { nodeSelector: { [host]: 'n1' } }, {}, false],
    ['is not found in another zone if it has a claim', claim, {}, false],
    ['is found in its zone if it has a claim', claim, { labels: { [zone]: 'a' } }, true],
    [
      'is not found if its requirements are too long to be kept',
      tolerating(1, 'x'.repeat(longest)),
      {},
      false,
    ],
    ['is not found if they have too many terms', tolerating(planLimits.terms + 1), {}, false],
    ['is found with the most terms', tolerating(planLimits.terms), {}, true],
  ];
  for (const [name, spec, n2, found] of cases) {
    test(name, () => assert.equal(elsewhere(nodes(n2), spec), found));
  }

  test('is searched for within a limit for each namespace', () => {
    const all = networks().others();
    const kind = (index: number): object => ({ tolerations: [{ key: `k${index}`, operator: 'Exists' }] });
    for (let index = 0; index < repairLimits.kinds; index += 1) assert.ok(elsewhere(all, kind(index)));
    assert.equal(elsewhere(all, kind(repairLimits.kinds)), false);
    assert.equal(elsewhere(all, kind(0)), true);
    assert.equal(elsewhere(all, kind(repairLimits.kinds), 'n1', 'bank'), true);
  });
});

suite('the network of a node', () => {
  test('is open while its DaemonSet is ready, and closed while it is not', () => {
    const { readiness, on, others } = networks([], { n2: { ready: false } });
    assert.equal(on('n1').state, 'open');
    const { state, why } = on('n2');
    assert.equal(state, 'closed');
    assert.match(why, /DaemonSet net\/agent is (starting|broken) there/);
    assert.deepEqual([elsewhere(others(), {}), elsewhere(others(), {}, 'n2')], [false, true]);
    readiness.setNode({ ...toNodeFacts(apiNode('n1', 'b1', 3)), unschedulable: true }, now);
    assert.deepEqual([on('n1').state, on('n1').why], ['closed', 'it is cordoned']);
  });

  test('is unreachable while the kubelet does not report, and if the node is gone', () => {
    const { readiness, on, others } = networks();
    const node = toNodeFacts(apiNode('n1', 'b1', 2));
    node.taints = [{ key: 'node.kubernetes.io/unreachable', value: '', effect: 'NoSchedule' }];
    readiness.setNode(node, now);
    assert.equal(on('n1').state, 'unreachable');
    assert.equal(on('gone').state, 'unreachable');
    assert.equal(elsewhere(others(), {}, 'n2'), false);
  });

  test('is unproved if a proof is required and none has passed', () => {
    const unproved = networks([], {}, { evidence: 'proof' });
    assert.equal(unproved.on('n1').state, 'try');
    assert.equal(elsewhere(unproved.others(), {}), false, 'n2 is unproved too');
    const { on } = networks([{ verdict: 'waiting', at: (now - start) / second }], {}, { evidence: 'proof' });
    assert.equal(on('n1').state, 'unproved', 'another pod proves it now');
  });
});
