import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type NodeFacts, toNodeFacts } from '../../../../webhook/core/facts/node.ts';
import { evidencePick } from '../../../../webhook/core/facts/to-pod-evidence.ts';
import { networkOn, type OtherNodes, otherNodes } from '../../../../webhook/leader/repair/networks.ts';
import { evidencePods, planLimits, repairLimits } from '../../../../webhook/lib/limits.ts';
import { policyOf } from '../../../support/configurations.ts';
import { clusterWith } from '../../admission/gate/support.ts';
import { apiNode, now } from '../../core/networks/objects.ts';
import { evidenceWith, type Shown, start } from '../../core/networks/support.ts';

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
    ['is found if the pod requires nothing', {}, {}, true],
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

  test('is looked for up to a bound for each namespace', () => {
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

  test('is unproved where a proof is required and none has passed', () => {
    assert.equal(networks([], {}, { evidence: 'proof' }).on('n1').state, 'try');
  });
});
