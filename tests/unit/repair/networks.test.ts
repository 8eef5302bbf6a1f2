import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { toNodeFacts } from '../../../webhook/readiness/to-facts.ts';
import { networksOf } from '../../../webhook/repair/networks.ts';
import { policyOf } from '../../support/configurations.ts';
import { evidenceWith, type Shown, start } from '../evidence/support.ts';
import { clusterWith } from '../gate/support.ts';
import { apiNode, now } from '../readiness/objects.ts';

const mesh = {
  name: 'mesh',
  daemonSets: [{ namespace: 'net', name: 'agent' }],
  proof: { checks: [{ address: { timeout: '5s' } }] },
};

/** Two nodes with ready agents, and what else is so. */
function networks(shown: Shown[] = [], agents: Parameters<typeof clusterWith>[0] = {}, profile: object = {}) {
  const readiness = clusterWith({ n1: { ready: true }, n2: { ready: true }, ...agents });
  const policy = policyOf({ profiles: [{ ...mesh, ...profile }] });
  return { readiness, of: () => networksOf({ policy, readiness, evidence: evidenceWith(shown), now }) };
}

suite('the network of a node', () => {
  test('is open while its DaemonSet is ready, and closed while it is not', () => {
    const { of } = networks([], { n2: { ready: false } });
    assert.equal(of().node('n1', 'mesh').state, 'open');
    const { state, why } = of().node('n2', 'mesh');
    assert.equal(state, 'closed');
    assert.match(why, /DaemonSet net\/agent is (starting|broken) there/);
    assert.deepEqual([of().elsewhere('n1', ['mesh']), of().elsewhere('n2', ['mesh'])], [false, true]);
  });

  test('is unreachable while the kubelet does not report, and if the node is gone', () => {
    const { readiness, of } = networks();
    const node = toNodeFacts(apiNode('n1', 'b1', 2));
    node.taints = [{ key: 'node.kubernetes.io/unreachable', value: '', effect: 'NoSchedule' }];
    readiness.apply({ kind: 'node', facts: node, listed: false }, now);
    assert.equal(of().node('n1', 'mesh').state, 'unreachable');
    assert.equal(of().node('gone', 'mesh').state, 'unreachable');
    assert.equal(of().elsewhere('n2', ['mesh']), false);
  });

  test('is closed while the node is cordoned', () => {
    const { readiness, of } = networks();
    const facts = { ...toNodeFacts(apiNode('n1', 'b1', 2)), unschedulable: true };
    readiness.apply({ kind: 'node', facts, listed: false }, now);
    assert.deepEqual(
      [of().node('n1', 'mesh').state, of().node('n1', 'mesh').why],
      ['closed', 'it is cordoned'],
    );
  });

  test('is unproved where a proof is required and none has passed', () => {
    const { state, needsProof } = networks([], {}, { evidence: 'proof' }).of().node('n1', 'mesh');
    assert.deepEqual([state, needsProof], ['unproved', true]);
  });

  test('tells when a proof last passed', () => {
    const { passedAt } = networks([{ node: 'n1', verdict: 'passed', at: 7 }])
      .of()
      .node('n1', 'mesh');
    assert.equal(passedAt, start + 7000);
  });

  test('is another one after a boot', () => {
    const { readiness, of } = networks();
    const before = of().node('n1', 'mesh').instance;
    readiness.apply({ kind: 'node', facts: toNodeFacts(apiNode('n1', 'b2', 9)), listed: false }, now);
    assert.notEqual(of().node('n1', 'mesh').instance, before);
  });
});
