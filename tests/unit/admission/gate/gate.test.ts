import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type GateView, gate } from '../../../../webhook/admission/gate.ts';
import { decodePlacement } from '../../../../webhook/admission/placement.ts';
import { toPendingPod } from '../../../../webhook/core/facts/pending-pod.ts';
import { CniGateError } from '../../../../webhook/lib/errors.ts';
import { policyOf } from '../../../support/configurations.ts';
import { recorded } from '../../../support/reviews.ts';
import { now } from '../../core/networks/objects.ts';
import { binding, gateView, pending } from './support.ts';

const profiles = [
  { name: 'mesh', daemonSets: [{ namespace: 'net', name: 'agent' }] },
  { name: 'new', daemonSets: [{ namespace: 'net', name: 'other' }] },
];

const policy = policyOf({ profiles });
const outcome = async (body: object, more: Partial<GateView> = {}) => {
  const { decision } = await gate(decodePlacement(body), gateView(more), policy, now);
  return [decision.outcome, decision.reason];
};

suite('gate', () => {
  test('asks for the pod of a Binding by its UID', async () => {
    const asked: string[][] = [];
    const pods = {
      pod: (...names: [string, string, string, string?]) => {
        asked.push(names.slice(0, 3) as string[]);
        return Promise.resolve(pending());
      },
    };
    assert.deepEqual(await outcome(binding(), { pods }), ['refused', 'broken']);
    assert.deepEqual(asked, [['shop', 'web-0', 'u1']]);
  });

  test('reads a pod with spec.nodeName from the request and asks for no other', async () => {
    const annotations = { 'cni-gate.io/status': '{"profiles":["mesh"]}' };
    const mirror = { ...annotations, 'kubernetes.io/config.mirror': 'x' };
    const pods = { pod: () => assert.fail('asked') };
    const placed = (metadata: object, nodeName?: string) => {
      const object = { metadata: { name: 'placed', ...metadata }, spec: { nodeName, containers: [] } };
      return outcome(binding('', { kind: { group: '', version: 'v1', kind: 'Pod' }, object }), { pods });
    };
    assert.deepEqual(await placed({ annotations }, 'n1'), ['refused', 'broken']);
    assert.deepEqual(await placed({ annotations }), ['skipped', 'operation']);
    assert.deepEqual(await placed({ annotations: mirror }, 'n1'), ['skipped', 'no-profile-applies']);
    assert.deepEqual(await placed({}, 'n1'), ['skipped', 'no-profile-applies']);
  });

  test('allows while the nodes are not listed, and if the pod cannot be read', async () => {
    const asked = { pod: () => assert.fail('asked') };
    const nothing = { unsynced: () => 'nodes', notSynced: () => true, pods: asked };
    assert.deepEqual(await outcome(binding(), nothing), ['unknown', 'not-synced']);
    const notSynced = ({ name }: { name: string }): boolean => name === 'other';
    const other = { unsynced: () => 'pods of DaemonSet net/other', notSynced };
    assert.deepEqual(await outcome(binding(), other), ['refused', 'broken']);
    const pods = {
      pod: () => Promise.reject(new CniGateError('CNI_GATE_CLUSTER_UNREACHABLE', 'no answer in time')),
    };
    const { decision } = await gate(decodePlacement(binding()), gateView({ pods }), policy, now);
    assert.deepEqual(
      [decision.outcome, decision.warnings],
      ['unknown', ['allowed without a check: no answer in time']],
    );
  });
});

suite('decodePlacement', () => {
  test('decodes a Binding of a real scheduler', () => {
    const placement = decodePlacement(recorded('binding-deployment-web'));
    assert.deepEqual(placement, {
      uid: '9800e78e-a809-4308-ab79-c1a269e415fb',
      namespace: 'shop',
      name: 'web-7fdb9d4559-n9l6t',
      operation: 'CREATE',
      subResource: 'binding',
      dryRun: false,
      podUid: '392e5bb3-ef62-4623-8905-aac8b6b07170',
      node: 'n1',
      profiles: undefined,
    });
  });

  test('rejects a Binding without a name or a node, and other kinds', () => {
    const target = (kind: string) => ({ object: { metadata: { name: 'a' }, target: { kind, name: 'n1' } } });
    const cases: [more: object, message: RegExp][] = [
      [{ object: null }, /^request.object should be the binding, is null/],
      [{ object: { metadata: {} } }, /has no metadata.name: the pod's$/],
      [{ object: { metadata: { name: 'a' }, target: {} } }, /has no target.name: the node's$/],
      [target('Pod'), /request.object.target.kind should be Node or left out, is "Pod"$/],
      [
        { kind: { group: 'apps', version: 'v1', kind: 'Deployment' } },
        /^expected request.kind Binding or Pod of v1, got "Deployment"/,
      ],
    ];
    for (const [more, message] of cases)
      assert.throws(() => decodePlacement(binding('n1', more)), { message });
    assert.equal(decodePlacement(binding('n1', target(''))).node, 'n1');
  });
});

suite('toPendingPod', () => {
  const metadata = {
    ...{ uid: 'u1', resourceVersion: '1', namespace: 'shop', name: 'web-0' },
    creationTimestamp: '2026-11-21T12:00:00Z',
  };
  const annotations = { 'cni-gate.io/status': '{"profiles":["mesh",7]}' };
  const waiting = (message: string, status = 'False') => {
    const since = { lastTransitionTime: '2026-11-21T11:50:00Z' };
    const conditions = [{ type: 'PodScheduled', status, message, ...since }];
    return toPendingPod({ metadata: { ...metadata, annotations }, spec: {}, status: { conditions } });
  };
  const refusal =
    'admission webhook "bindings.cni-gate.io" denied the request: node n1 is not ready for profile mesh: … (CNI_GATE_NODE_NOT_READY node=n1 profile=mesh state=broken)';

  test('keeps the profiles, and the node of the refusal', () => {
    assert.deepEqual(waiting(refusal), pending({ refused: 'n1' }));
  });

  test('keeps no hold of a pod that waits for another reason, or is bound', () => {
    assert.deepEqual(waiting('0/3 nodes are available'), pending());
    assert.deepEqual(waiting(refusal, 'True'), pending());
    assert.deepEqual(toPendingPod({ metadata, spec: {} }).profiles, []);
  });
});
