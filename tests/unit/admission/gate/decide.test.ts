import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  decidePlacement,
  type GateDecision,
  type GateView,
  gate,
} from '../../../../webhook/admission/gate.ts';
import { decodePlacement } from '../../../../webhook/admission/placement.ts';
import { toAgentFacts, toDaemonSetFacts } from '../../../../webhook/core/facts/node.ts';
import { type PendingPod, toPendingPod } from '../../../../webhook/core/facts/pending-pod.ts';
import { refusedFor } from '../../../../webhook/core/facts/refusal-tag.ts';
import { noEvidence } from '../../../../webhook/core/networks/evidence.ts';
import { Holds } from '../../../../webhook/core/networks/holds.ts';
import type { Readiness } from '../../../../webhook/core/networks/readiness.ts';
import { CniGateError } from '../../../../webhook/lib/errors.ts';
import { policyOf } from '../../../support/configurations.ts';
import { recorded } from '../../../support/reviews.ts';
import { apiAgent, apiDaemonSet, now } from '../../core/networks/objects.ts';
import { binding, clusterWith, gateView, pending } from './support.ts';

const profiles = [
  { name: 'mesh', daemonSets: [{ namespace: 'net', name: 'agent' }] },
  { name: 'bare' },
  { name: 'new', daemonSets: [{ namespace: 'net', name: 'late' }] },
  { name: 'lost', daemonSets: [{ namespace: 'net', name: 'nobody' }] },
  {
    name: 'both',
    daemonSets: [
      { namespace: 'net', name: 'agent' },
      { namespace: 'net', name: 'slow' },
    ],
  },
];
const notSynced = ({ name }: { name: string }): boolean => name === 'late';
const minute = 60_000;
const broken = clusterWith({ n1: { ready: false, waiting: 'CrashLoopBackOff' }, n2: {}, n3: undefined });

const viewOf = (readiness: Readiness) => ({
  readiness,
  notSynced,
  evidence: noEvidence,
  holds: new Holds(),
});

function decide(
  node: string,
  pod: PendingPod | undefined = pending(),
  gate: object = {},
  request: object = {},
  readiness = broken,
): GateDecision {
  const policy = policyOf({ profiles, gate });
  return decidePlacement(decodePlacement(binding(node, request)), pod, viewOf(readiness), policy, now)
    .decision;
}

const sentence =
  'node n1 is not ready for profile mesh: DaemonSet net/agent is broken there since 2026-11-21T11:30:00Z (pod agent-n1): its pod is not Ready: install-cni (CrashLoopBackOff)';
const refusal = `${sentence} (CNI_GATE_NODE_NOT_READY node=n1 profile=mesh state=broken)`;
const warning = `${sentence} (CNI_GATE_NODE_NOT_READY)`;

suite('decidePlacement', () => {
  test('allows a ready node, and refuses one that is not ready with a message for the event', () => {
    const about = { profile: 'mesh', profiles: ['mesh'], operations: [], warnings: [] };
    assert.deepEqual(decide('n2'), { outcome: 'allowed', reason: 'ready', ...about });
    assert.deepEqual(decide('n1'), { outcome: 'refused', reason: 'broken', ...about, message: refusal });
    assert.match(
      decide('n3').message ?? '',
      /^node n3 is not ready for profile mesh: DaemonSet net\/agent is absent there: no pod of it is on the node \(/,
    );
  });

  test('with gate.mode audit, allows a node that is not ready, with a warning', () => {
    const { outcome, reason, warnings, message } = decide('n1', pending(), { mode: 'audit' });
    assert.deepEqual([outcome, reason, message], ['audited', 'broken', undefined]);
    assert.deepEqual(warnings, [`gate.mode audit: ${warning}`]);
  });

  test('allows an unknown pod, node or DaemonSet, with a warning', () => {
    const placement = decodePlacement(binding('n1'));
    const cases: [GateDecision, reason: string, warning: string][] = [
      [
        decidePlacement(placement, undefined, viewOf(broken), policyOf({ profiles }), now).decision,
        'pod-unknown',
        'pod shop/web-0 is not known',
      ],
      [decide('n9'), 'node-unknown', 'node n9 is not known'],
      [
        decide('n1', pending({ profiles: ['lost'] })),
        'daemonset-unknown',
        'DaemonSet net/nobody does not exist',
      ],
    ];
    for (const [{ outcome, reason, warnings }, expected, text] of cases) {
      assert.deepEqual([outcome, reason], ['unknown', expected]);
      assert.deepEqual(warnings, [`allowed without a check: ${text}`]);
    }
  });

  test('refuses if one DaemonSet is unknown and another is not ready', () => {
    assert.equal(decide('n1', pending({ profiles: ['lost', 'mesh'] })).outcome, 'refused');
    const passed = decide('n2', pending({ profiles: ['mesh', 'lost'] }));
    assert.deepEqual(
      [passed.outcome, passed.profile, passed.profiles],
      ['unknown', 'lost', ['mesh', 'lost']],
    );
  });

  test('refuses if any DaemonSet of a profile is not ready, except those that do not select the node', () => {
    const apply = (given: { agent?: boolean; slow?: boolean }) => {
      const readiness = clusterWith({ n1: undefined });
      for (const name of ['agent', 'slow'] as const) {
        const ready = given[name];
        const template = ready === undefined ? { nodeSelector: { gpu: 'yes' } } : {};
        readiness.setDaemonSet(toDaemonSetFacts(apiDaemonSet(name, template)));
        if (ready === undefined) continue;
        readiness.setAgent(toAgentFacts(apiAgent('n1', { name: `${name}-n1`, owner: name, ready })));
      }
      const pod = pending({ profiles: ['both'] });
      const { outcome, reason, message } = decide('n1', pod, {}, {}, readiness);
      return [`${outcome} ${reason}`, /DaemonSet \S+/.exec(message ?? '')?.[0]];
    };
    assert.deepEqual(apply({ agent: true, slow: true }), ['allowed ready', undefined]);
    assert.deepEqual(apply({ agent: false, slow: true }), ['refused broken', 'DaemonSet net/agent']);
    assert.deepEqual(apply({ agent: true, slow: false }), ['refused broken', 'DaemonSet net/slow']);
    assert.deepEqual(apply({ slow: true }), ['allowed ready', undefined]);
    assert.deepEqual(apply({}), ['allowed exempt', undefined]);
  });

  test('skips pods of profiles without DaemonSets', () => {
    for (const named of [[], ['bare'], ['gone']]) {
      const { outcome, reason } = decide('n1', pending({ profiles: named }));
      assert.deepEqual([outcome, reason], ['skipped', 'no-profile-applies']);
    }
    assert.equal(decide('n1', pending(), {}, { operation: 'UPDATE' }).reason, 'operation');
  });
});

suite('a hold ends after gate.maxHold', () => {
  const held = (since: number, maxHold = '10m') => decide('n1', pending({ heldSince: since }), { maxHold });

  test('counted from the first refusal of the pod', () => {
    assert.equal(held(now - 9 * minute).outcome, 'refused');
    assert.equal(held(now - 10 * minute).outcome, 'refused');
    const { outcome, reason, warnings } = held(now - 10 * minute - 1);
    assert.deepEqual([outcome, reason], ['released', 'held-long-enough']);
    assert.equal(warnings[0], `allowed, because gate.maxHold has passed: ${warning}`);
  });
});

test('refusedFor reads the node from the message of the scheduler, and from no other text', () => {
  const reported = (webhook: string, text = refusal) =>
    `running Bind plugin "DefaultBinder": admission webhook "${webhook}" denied the request: ${text}`;
  assert.equal(refusedFor(reported('bindings.cni-gate.io'))?.node, 'n1');
  assert.equal(refusedFor(reported('bindings-cni-gate.io'))?.node, undefined);
  assert.equal(refusedFor(reported('bindings.example.com'))?.node, undefined);
  assert.equal(refusedFor(reported('bindings.cni-gate.io', warning))?.node, undefined);
  assert.equal(refusedFor('0/3 nodes are available: 3 Insufficient cpu.')?.node, undefined);
  assert.equal(refusedFor('')?.node, undefined);
  assert.deepEqual(refusedFor(reported('bindings.cni-gate.io')), { node: 'n1', why: sentence });
  const tagged = (fields: string) => reported('bindings.cni-gate.io', `a (CNI_GATE_NODE_NOT_READY ${fields}`);
  const forged = tagged(
    'node=x profile=a state=broken) (CNI_GATE_NODE_NOT_READY node=n1 profile=a state=broken)',
  );
  assert.equal(refusedFor(forged)?.node, 'n1', 'the last one counts');
  for (const fields of [
    'node=n1 profile=a',
    'profile=a node=n1 state=b',
    'node= profile=a state=b',
    'node=n1 profile=a state=b more=c',
    // a node's name becomes part of a query, and this name would add a selector to the query
    'node=n1,metadata.namespace=kube-system profile=a state=b',
  ])
    assert.equal(refusedFor(tagged(`${fields})`)), undefined, fields);
  assert.equal(refusedFor(tagged('node=n1 profile=a state=b) and more')), undefined);
});

const policy = policyOf({ profiles });
const outcome = async (body: object, more: Partial<GateView> = {}) => {
  const { decision } = await gate(decodePlacement(body), gateView(more), policy, now);
  return [decision.outcome, decision.reason];
};

suite('gate', () => {
  test('looks up the pod of a Binding by its UID', async () => {
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

  test('reads a pod with spec.nodeName from the request, and looks up no other', async () => {
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
    const other = { unsynced: () => 'pods of DaemonSet net/late', notSynced };
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

test('a bound pod counts as not refused, whatever its condition says', () => {
  const message = `admission webhook "bindings.cni-gate.io" denied the request: ${refusal}`;
  const refusedIf = (status: string) => {
    const conditions = [
      { type: 'PodScheduled', status, message, lastTransitionTime: '2026-11-21T11:50:00Z' },
    ];
    const metadata = {
      uid: 'u1',
      resourceVersion: '1',
      name: 'web-0',
      creationTimestamp: '2026-11-21T12:00:00Z',
    };
    return toPendingPod({ metadata, spec: {}, status: { conditions } }).refused;
  };
  assert.deepEqual([refusedIf('False'), refusedIf('True')], ['n1', undefined]);
});
