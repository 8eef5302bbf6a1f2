import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ApiPod } from '../../../../webhook/core/facts/api.ts';
import { evidencePick } from '../../../../webhook/core/facts/to-pod-evidence.ts';

const checks = (profiles: string[]): string =>
  JSON.stringify(profiles.map((profile) => ({ profile, address: { timeout: '10s' } })));

interface Options {
  metadata?: Partial<ApiPod['metadata']>;
  status?: ApiPod['status'];
  env?: string;
  hostNetwork?: boolean;
}

function apiPod({
  metadata,
  status,
  env = checks(['cilium', 'linkerd']),
  hostNetwork,
}: Options = {}): ApiPod {
  return {
    metadata: {
      uid: 'u1',
      resourceVersion: '7',
      namespace: 'shop',
      name: 'web-0',
      creationTimestamp: '2026-11-21T12:00:00Z',
      labels: { 'cni-gate.io/profile': 'cilium.linkerd' },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'rs1', controller: true },
      ],
      ...metadata,
    },
    spec: {
      nodeName: 'n1',
      ...(hostNetwork && { hostNetwork }),
      initContainers: [{ name: 'cni-gate-validator', env: [{ name: 'CNI_GATE_CHECKS', value: env }] }],
    },
    ...(status && { status }),
  };
}

const ours = (state: object) => ({ initContainerStatuses: [{ name: 'cni-gate-validator', state }] });
const scheduled = { type: 'PodScheduled', status: 'True', lastTransitionTime: '2026-11-21T12:00:01Z' };
const noSandbox = {
  type: 'PodReadyToStartContainers',
  status: 'False',
  lastTransitionTime: '2026-11-21T12:00:02Z',
};

suite('what is kept of a pod', () => {
  test('a pod that failed: when, which profiles, its controller and its addresses', () => {
    const message = '{"code":95,"checks":[{"profile":"linkerd","passed":false}]}';
    const terminated = {
      exitCode: 95,
      message,
      startedAt: '2026-11-21T12:00:03Z',
      finishedAt: '2026-11-21T12:00:13Z',
      containerID: `containerd://${'7'.repeat(52)}0000000000ff`,
    };
    const status = {
      conditions: [{ ...noSandbox, status: 'True' }],
      ...ours({ terminated }),
      podIPs: [{ ip: '10.0.0.1' }, { ip: 'FD00::0001' }, { ip: 'no address' }],
    };
    const networks = [
      { name: 'cilium', default: true, ips: ['10.0.0.1'] },
      { name: 'shop/fast', interface: 'net1', ips: ['192.168.0.9'] },
      { name: 'istio-cni' },
    ];
    const annotations = { 'k8s.v1.cni.cncf.io/network-status': JSON.stringify(networks) };
    assert.deepEqual(evidencePick()(apiPod({ metadata: { annotations }, status })), {
      uid: 'u1',
      namespace: 'shop',
      name: 'web-0',
      version: '7',
      node: 'n1',
      profiles: ['cilium', 'linkerd'],
      failedProfiles: ['linkerd'],
      failedVersion: '7',
      owner: JSON.stringify(['shop', 'apps/v1', 'ReplicaSet', 'rs1']),
      controller: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'rs1' },
      required: {
        constraints: { nodeSelector: {}, affinity: { nodeAffinity: null } },
        tolerations: [],
        kind: '[["cilium","linkerd"],{"constraints":{"nodeSelector":{},"affinity":{"nodeAffinity":null}},"tolerations":[]},false]',
        hasVolumes: false,
      },
      createdAt: Date.parse('2026-11-21T12:00:00Z'),
      leaving: false,
      ended: false,
      verdict: 'failed',
      at: Date.parse('2026-11-21T12:00:13Z'),
      startedAt: Date.parse('2026-11-21T12:00:03Z'),
      run: 255,
      waitingFor: '',
      hasSandbox: true,
      sandboxSince: Date.parse('2026-11-21T12:00:02Z'),
      addresses: ['10.0.0.1', 'fd00::1', 'shop/fast/192.168.0.9'],
    });
  });

  const waits: [name: string, status: ApiPod['status'], expected: string, since: string | undefined][] = [
    ['the kubelet has not seen it', { conditions: [scheduled] }, 'the kubelet', '12:00:01'],
    [
      'no sandbox',
      { conditions: [scheduled, noSandbox], ...ours({ waiting: { reason: 'PodInitializing' } }) },
      'a sandbox',
      '12:00:02',
    ],
    [
      'our container',
      ours({ waiting: { reason: 'CreateContainerConfigError' } }),
      'cni-gate-validator (CreateContainerConfigError)',
      undefined,
    ],
  ];
  for (const [name, status, expected, since] of waits) {
    test(`a pod that waits: ${name}`, () => {
      const found = evidencePick()(apiPod({ status }));
      const time = since === undefined ? undefined : Date.parse(`2026-11-21T${since}Z`);
      assert.deepEqual([found.verdict, found.waitingFor, found.at], ['waiting', expected, time]);
    });
  }

  test('a pod that failed in warn mode runs: it is marked', () => {
    const warned = (exitCode: number): true | undefined =>
      evidencePick()(apiPod({ status: ours({ terminated: { exitCode, message: '{"code":95}' } }) })).warned;
    assert.deepEqual([warned(0), warned(95)], [true, undefined]);
  });

  test('profiles are those of the checks, whatever the annotation says', () => {
    const annotations = { 'cni-gate.io/status': '{"profiles":["istio"]}' };
    assert.deepEqual(evidencePick()(apiPod({ metadata: { annotations } })).profiles, ['cilium', 'linkerd']);
  });

  test("a network's own validator: the label names the profile, and 126 is a failure", () => {
    const metadata = { labels: { 'cni-gate.io/profile': 'istio' } };
    const status = ours({ terminated: { exitCode: 126 } });
    const { profiles, verdict, failedProfiles } = evidencePick()(apiPod({ metadata, status, env: '[]' }));
    assert.deepEqual([profiles, verdict, failedProfiles], [['istio'], 'failed', ['istio']]);
  });

  test('a pod was released only if no controller finds it, whatever its annotation says', () => {
    const annotations = { 'cni-gate.io/released-from': 'work' };
    const job = { apiVersion: 'batch/v1', kind: 'Job', name: 'work', uid: 'j1', controller: true };
    const released = (metadata: Options['metadata']): string | undefined =>
      evidencePick()(apiPod({ metadata: { annotations, ...metadata } })).releasedFrom;
    assert.equal(released({ ownerReferences: [job] }), 'work', 'a moment after the release');
    assert.equal(released({ ownerReferences: [] }), 'work');
    assert.equal(released({}), undefined, 'a pod of a ReplicaSet');
    const labels = { 'cni-gate.io/profile': 'cilium', 'job-name': 'work' };
    assert.equal(released({ ownerReferences: [job], labels }), undefined, 'in the template of a Job');
  });

  test('a pod on the host network has no address of its own', () => {
    const status = { podIPs: [{ ip: '10.0.0.1' }] };
    assert.deepEqual(evidencePick()(apiPod({ status, hostNetwork: true })).addresses, []);
  });

  test('texts from others are bounded, and equal ones are kept once', () => {
    const pick = evidencePick();
    const long = 'x'.repeat(100_000);
    const entries = Array.from({ length: 200 }, () => ({ name: long, ips: Array(50).fill('10.0.0.1') }));
    const networks = Array.from({ length: 200 }, () => ({ name: 'a', ips: ['10.0.0.1'] }));
    const annotations = { 'k8s.v1.cni.cncf.io/network-status': JSON.stringify(networks) };
    const status = ours({ waiting: { reason: long } });
    const found = pick(apiPod({ metadata: { annotations }, status }));
    assert.ok(found.waitingFor.length < 300);
    assert.equal(found.addresses.length, 64);
    annotations['k8s.v1.cni.cncf.io/network-status'] = JSON.stringify(entries.slice(0, 1));
    assert.deepEqual(pick(apiPod({ metadata: { annotations } })).addresses, []);
    const again = pick(apiPod());
    assert.equal(again.profiles, found.profiles);
    const owner = { apiVersion: 'v1', kind: 'X', name: long, uid: 'o', controller: true };
    assert.equal(pick(apiPod({ metadata: { ownerReferences: [owner] } })).owner, 'u1');
  });
});
