import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { toDaemonSetFacts } from '../../../webhook/core/facts/node.ts';
import type { PodEvidence } from '../../../webhook/core/facts/pod-evidence.ts';
import type { CheckId } from '../../../webhook/report/judge/catalogue.ts';
import { clusterWith } from '../admission/gate/support.ts';
import { apiDaemonSet, now } from '../core/networks/objects.ts';
import {
  configured,
  daemonSet,
  type factsOf,
  forbidden,
  found,
  having,
  podOf,
  profiles,
  provedPod,
  rowsIn,
} from './objects.ts';

type More = NonNullable<Parameters<typeof factsOf>[0]>;
type Pods = ReturnType<typeof podOf>[];

/** The fields of a check's rows that these tests compare. */
const told = (id: CheckId, pods: Pods, more: More = {}) =>
  rowsIn(id, { ...more, pods: found(pods) }).map(({ object, state, since, what, hint }) => [
    object,
    state,
    since,
    what,
    hint,
  ]);
const minuteAgo = '2026-11-21T11:59:00Z';

suite('namespaces', () => {
  test('the pods of each by the state of their proof', () => {
    const pods = [
      podOf('a', 'failed'),
      podOf('b', 'opted-out'),
      provedPod('c', 'passed', { wayNotShown: true }),
    ];
    const namespaces = found([
      { name: 'a-first', profile: 'mesh' },
      { name: 'shop', profile: 'mesh' },
    ]);
    const [first, second, ...others] = rowsIn('namespaces', { namespaces, pods: found(pods) });
    assert.deepEqual([first?.object, first?.what, others], ['a-first', 'mesh: no pods', []]);
    assert.equal(second?.what, 'mesh: 1 passed, 1 failed, 1 opted-out, 1 way-not-shown');
    assert.deepEqual(second?.counts, {
      ...{ passed: 1, failed: 1, waiting: 0 },
      ...{ 'opted-out': 1, 'without-proof': 0, skipped: 0, 'way-not-shown': 1 },
    });
    const [dark] = rowsIn('namespaces', { pods: forbidden('pods') });
    assert.deepEqual([dark?.what, dark?.counts], ['mesh', null]);
  });

  test('a label that names no profile fails, with what to do', () => {
    const [row] = rowsIn('namespaces', { namespaces: found([{ name: 'typo', profile: 'mehs' }]) });
    assert.deepEqual([row?.result, row?.code], ['failed', 'CNI_GATE_PROFILE_UNKNOWN']);
    assert.match(row?.hint ?? '', /kubectl label --overwrite namespace typo cni-gate\.io\/profile=/);
  });

  test('none has opted in: passed; a namespace of -n that has not: failed', () => {
    // a namespace with the label value none also has no profile
    const namespaces = found([{ name: 'plain', profile: undefined }]);
    const [none] = rowsIn('namespaces', { namespaces });
    assert.deepEqual([none?.result, none?.what], ['passed', 'no namespace has opted in']);
    const [row] = rowsIn('namespaces', { namespace: 'plain', namespaces });
    assert.deepEqual([row?.code, row?.object], ['CNI_GATE_NOT_OPTED_IN', 'plain']);
  });
});

suite('the DaemonSets of profiles in use', () => {
  const labelled = (profile: string): More => ({
    namespaces: found([{ name: 'shop', profile }]),
    pods: found([]),
  });

  test('a missing one fails, and its network is on no node', () => {
    const more = labelled('lost.mesh');
    assert.deepEqual(having('failed', more), ['daemonsets']);
    const [row] = rowsIn('daemonsets', more);
    assert.deepEqual([row?.object, row?.code], ['lost', 'CNI_GATE_DAEMONSET_UNKNOWN']);
    assert.match(row?.what ?? '', /^DaemonSet net\/gone does not exist/);
    assert.deepEqual([...new Set(rowsIn('nodes', more).map(({ object }) => object))], ['mesh']);
  });

  test('a profile that only a pod requests is in use; one that nobody requests is not', () => {
    const pods = found([podOf('x', 'waiting', { profile: 'lost' })]);
    assert.deepEqual(having('failed', { pods }), ['daemonsets']);
    const unused = {
      namespaces: found([]),
      pods: found([]),
      readiness: found(clusterWith({ n1: undefined })),
    };
    assert.deepEqual(having('failed', unused), []);
  });
});

suite('before an installation', () => {
  /** The DaemonSets of clusters, and the profiles that are proposed for them. */
  const clusters: [profile: string, ...daemonSets: string[]][] = [
    ['calico', 'calico-system/calico-node'],
    ['calico', 'kube-system/calico-node'],
    ['flannel', 'kube-flannel/kube-flannel-ds'],
    ['antrea', 'kube-system/antrea-agent'],
    ['ovn-kubernetes', 'openshift-ovn-kubernetes/ovnkube-node', 'openshift-multus/multus'],
    ['azure-cni.cilium', 'kube-system/azure-cns', 'kube-system/cilium'],
    ['gke-dataplane-v2', 'kube-system/anetd'],
    ['kube-router.linkerd', 'kube-system/kube-router', 'linkerd-cni/linkerd-cni'],
    ['linkerd.pod-network', 'linkerd-cni/linkerd-cni'],
    // k3s, whose Flannel runs inside its agent and not in a DaemonSet
    ['pod-network', 'kube-system/svclb-traefik-0b1c2d3e'],
    ['pod-network'],
  ];
  const networks = (names: string[], settings: object = {}) => {
    const daemonSets = found(names.map((name) => daemonSet(...(name.split('/') as [string, string]))));
    return rowsIn('networks', { configuration: configured(settings), daemonSets }, 'pre')[0];
  };
  for (const [profile, ...names] of clusters)
    test(`${profile} is proposed for ${names.join(', ') || 'no DaemonSet'}`, () => {
      const row = networks(names);
      assert.equal(row?.hint, `kubectl label namespace NAMESPACE cni-gate.io/profile=${profile}`);
      assert.equal(row?.result, profile.endsWith('pod-network') ? 'warning' : 'passed');
    });

  test('profiles that cannot be combined: why, and no command', () => {
    const redirect = { direction: 'outbound', listen: 4140, connect: ['192.0.2.2:1404'], timeout: '10s' };
    const own = (name: string, asUser: number) => ({
      name,
      daemonSets: [{ namespace: 'net', name }],
      proof: { checks: [{ redirect: { ...redirect, asUser } }] },
    });
    const row = networks(['net/one', 'net/two'], { profiles: [own('one', 1), own('two', 2)] });
    assert.equal(row?.result, 'warning');
    assert.match(row?.hint ?? '', /^profile "one\.two" is not possible: /);
  });

  test('nothing is proposed if DaemonSets may not be read', () => {
    const [row] = rowsIn('networks', { daemonSets: forbidden('DaemonSets') }, 'pre');
    assert.deepEqual([row?.result, row?.hint], ['not-known', '']);
  });
});

suite('nodes', () => {
  const states = (more: More) =>
    rowsIn('nodes', more).flatMap(({ object, node, state, result }) =>
      node ? [[object, node, state, result]] : [],
    );

  test('urgent ones come first, and the states are counted', () => {
    const agents = {
      n1: { ready: false, createdAt: new Date(now - 60_000).toISOString() },
      n2: undefined,
      n3: { ready: false },
      n4: {},
    };
    const more = { readiness: found(clusterWith(agents)) };
    assert.deepEqual(states(more), [
      ['mesh', 'n3', 'broken', 'failed'],
      ['mesh', 'n2', 'absent', 'failed'],
      ['mesh', 'n1', 'starting', 'failed'],
      ['mesh', 'n4', 'ready', 'passed'],
    ]);
    const [counted, first] = rowsIn('nodes', more);
    assert.deepEqual([counted?.object, counted?.what], ['mesh', '1 ready, 1 starting, 1 broken, 1 absent']);
    assert.deepEqual(
      [first?.what, first?.hint, first?.since],
      [
        'DaemonSet net/agent: its pod is not Ready: install-cni',
        'kubectl -n net describe pod agent-n3',
        '2026-11-21T11:30:00Z',
      ],
    );
  });

  test('exempt ones pass, and a network without a DaemonSet depends on proofs alone', () => {
    const readiness = clusterWith({ n1: undefined });
    readiness.setDaemonSet(toDaemonSetFacts(apiDaemonSet('agent', { nodeSelector: { on: 'other' } })));
    const stateWith = (...daemonSets: object[]) => {
      const configuration = configured({ profiles: [{ name: 'mesh', daemonSets }] });
      return states({ configuration, readiness: found(readiness) });
    };
    const places = { namespace: ['elsewhere', 'net'], name: 'agent' };
    assert.deepEqual(stateWith(places), [['mesh', 'n1', 'exempt', 'passed']]);
    assert.deepEqual(stateWith(), [['mesh', 'n1', 'ready', 'passed']]);
  });

  test('the summary: no nodes, no network to show, or pods of other namespaces that were not read', () => {
    const summary = (more: More): string[] => rowsIn('nodes', more).map(({ what, hint }) => what + hint);
    assert.deepEqual(summary({ readiness: found(clusterWith({})) }), ['no nodes']);
    const lost = { namespaces: found([{ name: 'shop', profile: 'lost' }]) };
    assert.deepEqual(summary(lost), ['there is no network to show']);
    const [counted] = summary({ namespace: 'shop' });
    assert.equal(counted, '2 readypods of other namespaces were not read');
  });

  test('failing: by the proofs of two pods', () => {
    const failed = (name: string) =>
      provedPod(name, 'failed', {
        verdict: 'failed',
        failedProfiles: ['mesh'],
        at: now - 60_000,
        startedAt: now - 70_000,
      });
    const [, row] = rowsIn('nodes', { pods: found(['a', 'b'].map(failed)) });
    assert.deepEqual([row?.state, row?.node, row?.since], ['failing', 'n1', null]);
    assert.match(row?.what ?? '', /^proofs say that the network does not work: pod shop\/a failed/);
  });

  test('a node without a pod that shows a proof is not called unproved: the replicas know deleted pods', () => {
    const configuration = configured({ profiles, gate: { evidence: 'proof' } });
    const pods = found([provedPod('web', 'passed', { at: now - 1000, startedAt: now - 2000 })]);
    const rows = rowsIn('nodes', { configuration, pods }).slice(1);
    const unsure =
      'no pod that was read shows a proof, but the replicas may remember the proof of a deleted pod';
    assert.deepEqual(
      rows.map(({ node, state, what }) => [node, state, what]),
      [
        ['n1', 'ready', ''],
        ['n2', 'ready', unsure],
      ],
    );
  });
});

suite('held pods', () => {
  const pods = (nominated = '') => [
    podOf('web', 'waiting', {
      held: { refused: 'n3', since: now - 60_000, nominated, why: 'it is broken' },
    }),
  ];
  const hint = (more: More, nominated = '') => told('held-pods', pods(nominated), more)[0]?.[4];

  test('the refused node, since when, and why', () => {
    const [row] = rowsIn('held-pods', { pods: found(pods()) });
    assert.deepEqual([row?.result, row?.object, row?.node], ['failed', 'shop/web', 'n3']);
    assert.deepEqual([row?.state, row?.since, row?.what], ['held', minuteAgo, 'it is broken']);
    assert.equal(rowsIn('held-pods', { pods: found(pods('n1')) })[0]?.state, 'nominated');
  });

  test('the nominated node, that steering is off, or the command that shows the events', () => {
    const configuration = configured({ profiles, steer: { mode: 'off' } });
    assert.deepEqual(
      [hint({}, 'n1'), hint({ configuration }), hint({})],
      ['node n1 is nominated', 'steering is off', 'kubectl -n shop describe pod web'],
    );
  });
});

suite('failed proofs', () => {
  const failed = (verdict: PodEvidence['verdict'], more = {}, evidence = {}) =>
    provedPod('web', 'failed', { verdict, at: now - 5000, ...evidence }, more);
  const advice = 'kubectl -n shop describe pod web';

  test('what was seen, or what the verdict means; the age is that of the sandbox, if the kubelet reports it', () => {
    assert.deepEqual(
      told('failed-proofs', [failed('failed', { seen: 'no answer' }, { sandboxSince: now - 60_000 })]),
      [['shop/web', 'failed', minuteAgo, 'no answer', advice]],
    );
    assert.deepEqual(told('failed-proofs', [failed('crashed')]), [
      ['shop/web', 'crashed', '2026-11-21T11:59:55Z', 'cni-gate-validator crashed', advice],
    ]);
  });

  test('a pod whose network is lost', () => {
    const lost = (since: number) =>
      provedPod('web', 'passed', { unready: { run: 1, at: now - since, shownBy: '1', patience: 10_000 } });
    assert.deepEqual(having('failed', { pods: found([lost(9999)]) }), []);
    assert.deepEqual(told('failed-proofs', [lost(60_000)]), [
      ['shop/web', 'lost', minuteAgo, 'its readiness probe fails', advice],
    ]);
  });
});

test('a pod that waits on its node for a minute, unless it has ended or is being deleted', () => {
  const waiting = (more: Partial<PodEvidence> = {}) =>
    provedPod('web', 'waiting', { verdict: 'waiting', at: now - 60_000, ...more });
  assert.deepEqual(told('waiting-pods', [waiting()]), [
    ['shop/web', 'waiting', minuteAgo, 'it waits for a sandbox', 'kubectl -n shop describe pod web'],
  ]);
  assert.equal(rowsIn('waiting-pods', { pods: found([waiting()]) })[0]?.result, 'failed');
  for (const more of [{ at: now - 59_000 }, { ended: true }, { leaving: true }])
    assert.deepEqual(having('failed', { pods: found([waiting(more)]) }), []);
  const runs = { ...waiting(), proof: 'without-proof' as const, withoutProof: 'not-passed' as const };
  assert.deepEqual(having('failed', { pods: found([runs]) }), ['pods-without-proof']);
});

test('a pod without a proof: why, and the command that recreates it', () => {
  const pods = [
    podOf('a', 'without-proof', { withoutProof: 'not-reviewed' }),
    podOf('b', 'without-proof', { withoutProof: 'not-passed' }),
  ];
  const rows = told('pods-without-proof', pods);
  assert.deepEqual(
    rows.map(([object, state]) => [object, state]),
    [
      ['shop/a', 'not-reviewed'],
      ['shop/b', 'not-passed'],
    ],
  );
  assert.deepEqual(rows[1]?.slice(3), [
    'it runs, and cni-gate-validator is missing, not the first, or has not ended with success',
    'Recreate it: kubectl -n shop rollout restart deployment,statefulset,daemonset',
  ]);
  assert.deepEqual(having('failed', { pods: found(pods) }), ['pods-without-proof']);
});

test('a pod in warn mode is a warning, unless the configuration warns as well, or is not known', () => {
  const pods = found([podOf('web', 'passed', { warns: true }), podOf('x', 'passed')]);
  assert.deepEqual(having('warning', { pods }), ['pods-without-proof']);
  assert.deepEqual(
    rowsIn('pods-without-proof', { pods }).map(({ object, state }) => [object, state]),
    [['shop/web', 'warn-mode']],
  );
  const warning = configured({ profiles, proof: { mode: 'warn' } });
  for (const configuration of [warning, { ...configured({ profiles }), unknown: 'it may not be read' }])
    assert.deepEqual(having('warning', { pods, configuration }), []);
});

test('an address of two live pods fails; that of a pod that ended or is being deleted does not', () => {
  const two = (more: Partial<PodEvidence>) => [
    provedPod('a', 'passed', { addresses: ['10.0.0.1', 'shop/storage/10.9.0.7'] }),
    provedPod('b', 'passed', {
      addresses: ['10.0.0.1', 'shop/storage/10.9.0.7'],
      createdAt: now,
      node: 'n2',
      ...more,
    }),
  ];
  assert.deepEqual(
    rowsIn('duplicate-addresses', { pods: found(two({})) }).map(({ result, object, node, what }) => [
      result,
      object,
      node,
      what,
    ]),
    [
      ['failed', 'shop/b', 'n2', 'its address 10.0.0.1 is also that of shop/a on n1'],
      ['failed', 'shop/b', 'n2', 'its address 10.9.0.7 in network shop/storage is also that of shop/a on n1'],
    ],
  );
  for (const more of [{ ended: true }, { leaving: true }])
    assert.deepEqual(having('failed', { pods: found(two(more)) }), []);
});
