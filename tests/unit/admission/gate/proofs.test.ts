import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { decidePlacement, type GateDecision } from '../../../../webhook/admission/gate/gate.ts';
import type { GatePod } from '../../../../webhook/admission/gate/gate-pod.ts';
import { decodePlacement } from '../../../../webhook/admission/gate/placement.ts';
import { gateBy } from '../../../../webhook/leader/filters.ts';
import { Evidence } from '../../../../webhook/nodes/evidence/evidence.ts';
import { toAgentFacts } from '../../../../webhook/nodes/readiness/facts.ts';
import { policyOf } from '../../../support/configurations.ts';
import { podEvidence, type Shown } from '../../nodes/evidence/support.ts';
import { apiAgent, now } from '../../nodes/readiness/objects.ts';
import { binding, clusterWith, pending } from './support.ts';

const profiles = [
  { name: 'mesh', daemonSets: [{ namespace: 'net', name: 'agent' }], evidence: 'proof' },
  { name: 'bare', evidence: 'proof' },
  { name: 'old', daemonSets: [{ namespace: 'net', name: 'agent' }] },
];

/** A replica of the gate, with a ready DaemonSet on n1 and n2, and none of it on n3. */
class Replica {
  readonly evidence = new Evidence();
  readonly readiness = clusterWith({ n1: {}, n2: {}, n3: undefined });
  readonly #gate: object;

  constructor(gate: object = {}, synced = true) {
    this.#gate = gate;
    if (synced) this.evidence.markSynced();
  }

  shows(shown: Shown, at = now): void {
    this.evidence.apply([{ type: 'put', pod: podEvidence(shown), listed: false }], at);
  }

  decides(node: string, pod: Partial<GatePod> = {}, more: object = {}, at = now): GateDecision {
    const uid = pod.uid ?? 'u1';
    const object = { metadata: { name: uid, namespace: 'shop', uid }, target: { kind: 'Node', name: node } };
    const view = { ...this, notSynced: () => false, notObservedSince: () => false };
    const placement = decodePlacement(binding(node, { name: uid, object, ...more }));
    return decidePlacement(placement, pending(pod), view, this.policy, at);
  }

  says(node: string, pod: Partial<GatePod> = {}, more: object = {}, at = now): string {
    const { outcome, reason } = this.decides(node, pod, more, at);
    return `${outcome} ${reason}`;
  }

  get policy() {
    return policyOf({ profiles, gate: this.#gate });
  }
}

suite('the gate with proofs', () => {
  test('a dry run takes no turn', () => {
    const replica = new Replica();
    assert.equal(replica.says('n1', {}, { dryRun: true }), 'allowed unproved');
    assert.equal(replica.says('n1', { uid: 'u2' }), 'allowed unproved');
  });

  test('a pod that is refused for another reason takes no turn', () => {
    const replica = new Replica();
    assert.equal(replica.says('n3', { profiles: ['bare', 'mesh'] }), 'refused absent');
    assert.equal(replica.says('n3', { uid: 'u2', profiles: ['bare'] }), 'allowed unproved');
  });

  test('works for a network without a DaemonSet', () => {
    const replica = new Replica();
    assert.equal(replica.says('n3', { profiles: ['bare'] }), 'allowed unproved');
    const { message = '' } = replica.decides('n3', { uid: 'u2', profiles: ['bare'] });
    assert.match(
      message,
      /^node n3 is not ready for profile bare: the network is unproved there: no pod has/,
    );
  });

  test("goes by what it observed where a node's clock was set back", () => {
    const replica = new Replica();
    const agent = toAgentFacts(apiAgent('n1', { version: 10, containers: ['c2'] }));
    replica.readiness.setAgent({ ...agent, startedAt: now + 3_600_000 });
    replica.shows({ uid: 'late', version: 11 });
    replica.shows({ uid: 'late', version: 12, verdict: 'passed' });
    assert.equal(replica.says('n1', { uid: 'u2' }), 'allowed ready');
    replica.readiness.setAgent({ ...agent, version: '13', containers: ['c3'], startedAt: now - 3_600_000 });
    assert.equal(replica.says('n1', { uid: 'u2' }), 'allowed unproved');
  });

  test('gate.maxHold counts from the first refusal, though states change', () => {
    const replica = new Replica({ maxHold: '10m' });
    replica.says('n1');
    const heldSince = now - 601_000;
    assert.equal(replica.says('n1', { uid: 'u2', heldSince }), 'released held-long-enough');
    assert.equal(replica.says('n1', { uid: 'u2', heldSince: now - 599_000 }), 'refused unproved');
  });

  test('allows while the pods are not listed yet, and says so', () => {
    const replica = new Replica({}, false);
    const { outcome, reason, warnings } = replica.decides('n1');
    assert.deepEqual([outcome, reason], ['unknown', 'not-synced']);
    assert.deepEqual(warnings, ['allowed without a check: not listed yet: pods on nodes']);
    assert.equal(replica.says('n1', { profiles: ['old'] }), 'allowed ready');
  });

  test('two replicas let at most one pod each through before the watch reports the first', () => {
    const replicas = [new Replica(), new Replica()];
    let through = 0;
    for (let pod = 0; pod < 30; pod += 1) {
      if (replicas[pod % 2]?.says('n1', { uid: `u${pod}` }).startsWith('allowed')) through += 1;
    }
    assert.equal(through, 2);
    // now both know of a pod on the way, when the reservations have ended too
    for (const replica of replicas) replica.shows({ uid: 'u0' });
    for (const replica of replicas)
      assert.equal(replica.says('n1', { uid: 'x' }, {}, now + 6000), 'refused unproved');
  });

  test('steering accepts a node for one that may try, and not while another pod is on the way', () => {
    const replica = new Replica();
    const accepts = (node: string, profile = 'mesh', at = now) =>
      gateBy(replica.policy, replica, at)([profile], node).blocker === undefined;
    assert.equal(accepts('n1'), true);
    replica.says('n1');
    assert.equal(accepts('n1'), false);
    assert.equal(accepts('n2'), true);
    assert.equal(accepts('n1', 'old'), true);
  });
});
