import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Evidence } from '../../../webhook/core/networks/evidence.ts';
import { type NodeView, nodeAnswer } from '../../../webhook/server/node-answer.ts';
import { policyOf } from '../../support/configurations.ts';
import { clusterWith } from '../admission/gate/support.ts';
import { evidenceWith, type Shown, seconds, start } from '../core/networks/support.ts';

const proof = { checks: [{ address: {} }] };

const profiles = [
  { name: 'mesh', daemonSets: [{ namespace: 'net', name: 'agent' }], evidence: 'proof', proof },
  {
    name: 'either',
    daemonSets: [{ namespace: ['nowhere', 'net'], name: 'agent' }],
    evidence: 'proof',
    proof,
  },
  { name: 'bare' },
  { name: 'tried', daemonSets: [{ namespace: 'net', name: 'nobody' }], evidence: 'proof', proof },
  { name: 'lost', daemonSets: [{ namespace: 'net', name: 'nobody' }] },
];

/** The answer about a node, `at` seconds after {@link start}. The agent of node n1 is ready. */
function answer(
  label: string,
  pods: Shown[] = [],
  more: Partial<NodeView> = {},
  node = 'n1',
  at = 20,
): string {
  const view: NodeView = {
    readiness: clusterWith({ n1: {} }),
    evidence: evidenceWith(pods),
    unsynced: () => undefined,
    notSynced: () => false,
    ...more,
  };
  const { code, text } = nodeAnswer(node, label, view, policyOf({ profiles }), start + at * seconds);
  return `${code} ${text}`;
}

test('a node that has to be proved: ready while a pod may try it, and not ready while one tries', () => {
  const not = 'node n1 is not ready for profile mesh: DaemonSet net/agent is';
  const code = '(CNI_GATE_NODE_NOT_READY)';
  assert.equal(answer('mesh'), '200 unproved');
  assert.equal(answer('either'), '200 unproved');
  assert.equal(answer('bare'), '200 ready');
  assert.equal(
    answer('mesh', [{ at: 10 }]),
    `503 ${not} unproved there (pod agent-n1): no pod has proved its network there yet ${code}`,
  );
  assert.equal(answer('mesh', [{ verdict: 'passed', at: 10 }]), '200 ready');
  const failed = ['web', 'db'].map((owner): Shown => ({ owner, verdict: 'failed', at: 0 }));
  // 2 s after a failure, the gate allows a pod to try the node, because the node could not recover otherwise
  assert.match(
    answer('mesh', failed, {}, 'n1', 1),
    /^503 .* is failing there .*proofs say that the network does not work: pod shop\/.* failed/,
  );
  assert.equal(answer('mesh', failed), '200 failing');
});

test('what is not listed yet is called neither ready nor unknown', () => {
  const notSynced = { notSynced: () => true };
  assert.equal(answer('lost'), '404 DaemonSet net/nobody does not exist');
  assert.equal(answer('tried'), '404 DaemonSet net/nobody does not exist');
  assert.equal(answer(''), '404 give the profiles, joined by dots: ?profile=NAME.NAME');
  assert.equal(answer('lost', [], notSynced), '503 not listed yet: pods of DaemonSet net/nobody');
  const starting = { unsynced: () => 'nodes' };
  assert.equal(answer('bare', [], starting, 'n9'), '503 not listed yet: nodes');
  assert.equal(answer('bare', [], {}, 'n9'), '404 node n9 is not known');
  for (const odd of [answer('bare', [], {}, 'n\u001b9'), answer('bare\u001b')])
    assert.match(odd, /^404 [^\p{Cc}]+$/u);
  const evidence = { ...evidenceWith([]), synced: false, of: () => undefined } as unknown as Evidence;
  assert.equal(answer('mesh', [], { evidence }), '503 not listed yet: pods on nodes');
  assert.deepEqual(nodeAnswer('n1', 'mesh', undefined, policyOf(), start), { code: 503, text: 'starting' });
});
