import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Registry } from 'prom-client';
import type { ApiPod } from '../../../../webhook/core/facts/api.ts';
import { toPendingPod } from '../../../../webhook/core/facts/pending-pod.ts';
import { heldPods } from '../../../../webhook/lib/limits.ts';
import { measureCluster } from '../../../../webhook/server/cluster-metrics.ts';
import { now } from '../../core/networks/objects.ts';
import { Replica } from './replica.ts';

const second = 1000;
const minute = 60 * second;
const refused = 'refused unproved';
const released = 'released held-long-enough';
const iso = (time: number): string => new Date(time).toISOString();

/** A pod from the API. Without `refusal`, it waits for capacity. @param written when its condition was last written */
function apiPod(uid: string, { refusal = true, waitsSince = now, written = now, noted = true } = {}) {
  const message = refusal
    ? 'admission webhook "bindings.cni-gate.io" denied the request: … (CNI_GATE_NODE_NOT_READY node=n1 profile=mesh state=unproved)'
    : '0/3 nodes are available: 3 Insufficient cpu.';
  const pod: ApiPod = {
    metadata: {
      uid,
      resourceVersion: '1',
      creationTimestamp: '2026-11-21T12:00:00Z',
      namespace: 'shop',
      name: uid,
      annotations: { 'cni-gate.io/status': '{"profiles":["mesh"]}' },
      ...(noted && {
        managedFields: [
          { time: iso(waitsSince), subresource: 'status' },
          { time: iso(written), subresource: 'status' },
          { time: iso(written + minute) },
          { time: null, subresource: 'status' },
        ],
      }),
    },
    spec: {},
    status: {
      conditions: [{ type: 'PodScheduled', status: 'False', message, lastTransitionTime: iso(waitsSince) }],
    },
  };
  return toPendingPod(pod);
}

/** A replica that refuses pods on n1 and n2, because on each of them another pod has no verdict yet. */
function replicaWith(gate: object = {}): Replica {
  const replica = new Replica({ maxHold: '10m', ...gate });
  occupies(replica, now);
  return replica;
}

function occupies(replica: Replica, at: number): void {
  for (const node of ['n1', 'n2']) replica.shows({ uid: `${node}-${at}`, node }, at);
}

/** The answer to a Binding from the scheduler, while another pod on the node has no verdict yet. */
function attempt(replica: Replica, uid: string, at: number, node = 'n1'): Promise<string> {
  occupies(replica, at);
  return replica.says(node, { uid }, {}, at);
}

suite('gate.maxHold counts from the first refusal', () => {
  for (const copied of [true, false]) {
    const how = copied ? 'with a scheduler that copies the refusal' : 'with one that does not';
    test(`even if two replicas are asked in turn, ${how}`, async () => {
      const replicas = [replicaWith(), replicaWith()];
      for (let call = 0; call < 56; call += 1) {
        const at = now + call * 11 * second;
        const text = await attempt(replicas[call % 2] as Replica, 'web', at);
        // without the condition, a replica knows only its own refusals
        const isOver = at - now > 10 * minute + (copied || call % 2 === 0 ? 0 : 11 * second);
        assert.equal(text, isOver ? released : refused, `${call}`);
        if (copied) for (const replica of replicas) replica.waits(apiPod('web', { written: at }), at);
      }
    });
  }

  test('or, in a process that started later, from when the refusal was written', async () => {
    const replica = replicaWith();
    const waitsSince = now - 60 * minute;
    replica.waits(apiPod('short', { waitsSince, written: now - 9 * minute }), now, true);
    replica.waits(apiPod('long', { waitsSince, written: now - 11 * minute }), now, true);
    assert.equal(await attempt(replica, 'short', now), refused);
    assert.equal(await attempt(replica, 'long', now), released);
    assert.equal(await attempt(replica, 'short', now + minute + second), released);
    replica.waits(apiPod('ahead', { waitsSince, written: now + 60 * minute }), now, true);
    assert.equal(await attempt(replica, 'ahead', now), refused);
    assert.equal(await attempt(replica, 'ahead', now + 10 * minute + 1), released);
  });

  test('or from its own first refusal, if the pod does not show the time', async () => {
    const replica = replicaWith();
    replica.waits(apiPod('web', { waitsSince: now - 60 * minute, noted: false }), now, true);
    assert.equal(await attempt(replica, 'web', now + minute), refused);
    assert.equal(await attempt(replica, 'web', now + 11 * minute), refused);
    assert.equal(await attempt(replica, 'web', now + 11 * minute + 1), released);
  });
});

suite('a hold', () => {
  test('ends when the pod has waited for something else for a long time', async () => {
    for (const [other, isLong] of [
      [15 * minute, true],
      [61 * second, true],
      [60 * second, false],
    ] as const) {
      const replica = replicaWith();
      replica.waits(apiPod('web'));
      await attempt(replica, 'web', now);
      replica.waits(apiPod('web'), now + second);
      replica.waits(apiPod('web', { refusal: false }), now + minute);
      replica.waits(apiPod('web', { refusal: false }), now + minute + 50 * second);
      const again = now + minute + other;
      assert.equal(await attempt(replica, 'web', again, 'n2'), refused);
      replica.waits(apiPod('web'), again + second);
      const end = (isLong ? again : now) + 10 * minute;
      assert.equal(await attempt(replica, 'web', end), refused);
      assert.equal(await attempt(replica, 'web', end + 1), released);
    }
  });

  test('ends even with a scheduler that does not copy the refusal, and is counted', async () => {
    const replica = replicaWith();
    const registry = new Registry();
    measureCluster(registry, () => replica.policy, {
      ...replica.view,
      pending: () => replica.view.pending(),
      unsynced: () => undefined,
    });
    const held = async () => /^cni_gate_held_pods (\d)$/m.exec(await registry.metrics())?.[1];
    const shown = () => Array.from(replica.view.pending(), (pod) => [pod.refused, pod.heldSince]);
    replica.waits(apiPod('web', { refusal: false }));
    assert.deepEqual([await held(), shown()], ['0', [[undefined, undefined]]]);
    await attempt(replica, 'web', now + second);
    assert.deepEqual([await held(), shown()], ['1', [['n1', now + second]]]);
    await attempt(replica, 'web', now + 2 * second, 'n2');
    replica.waits(apiPod('web', { refusal: false }), now + 2 * second);
    assert.deepEqual(shown(), [['n2', now + second]]);
    assert.equal(await attempt(replica, 'web', now + 10 * minute + second + 1), released);
    // the scheduler writes the refusal into the condition later, and then replaces it by another reason
    replica.waits(apiPod('web'), now + 3 * second);
    assert.deepEqual(shown(), [['n1', now + second]]);
    await attempt(replica, 'web', now + 3 * second, 'n2');
    assert.deepEqual(shown(), [['n2', now + second]], 'before the scheduler copies the last refusal');
    replica.waits(apiPod('web', { refusal: false }), now + 4 * second);
    assert.deepEqual([await held(), shown()], ['0', [[undefined, undefined]]]);
  });

  test('does not begin with gate.mode audit', async () => {
    const audit = replicaWith({ mode: 'audit' });
    for (const at of [now, now + 11 * minute])
      assert.equal(await attempt(audit, 'web', at), 'audited unproved');
  });

  test('begins again for pods beyond the limit', async () => {
    const replica = replicaWith();
    for (const uid of ['first', 'second']) await attempt(replica, uid, now);
    for (let pod = 1; pod < heldPods; pod += 1) replica.holds.refuse(`u${pod}`, 'n1', now);
    const end = now + 10 * minute + 1;
    assert.equal(await attempt(replica, 'second', end), released);
    assert.equal(await attempt(replica, 'first', end), refused);
    assert.equal(await attempt(replica, 'u9', end), released);
    replica.waitsNoLonger('u9', end);
    assert.equal(await attempt(replica, 'u9', end), refused, 'its hold begins again');
  });
});
