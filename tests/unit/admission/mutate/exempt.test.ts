import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { type Exemption, exemption, isUntouchable } from '../../../../webhook/admission/mutate/exempt.ts';
import type { Pod } from '../../../../webhook/admission/pod.ts';
import type { PodRequest } from '../../../../webhook/admission/review.ts';

const daemonSets = new Set(['kube-system/cilium', 'net/agent']);

type Spec = Partial<Pod['spec']>;

function exempt(
  spec: Spec,
  metadata: Pod['metadata'] = {},
  request: Partial<PodRequest> = {},
): Exemption | undefined {
  const pod: Pod = { metadata, spec: { containers: [{ name: 'app' }], ...spec } };
  const asked = {
    uid: 'u',
    namespace: 'shop',
    name: 'a',
    operation: 'CREATE',
    subResource: '',
    dryRun: false,
    pod,
  };
  return exemption({ ...asked, ...request }, daemonSets, 'cni-gate');
}

const requires = (...terms: unknown[]): Spec => ({
  affinity: {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: terms } },
  },
});

const os = (operator: string, values: unknown, key = 'kubernetes.io/os'): unknown => ({
  matchExpressions: [{ key, operator, values }],
});

suite('exemption', () => {
  test('an ordinary pod is not exempt', () => assert.equal(exempt({}), undefined));

  test('operations other than the creation of a pod', () => {
    assert.equal(exempt({}, {}, { operation: 'UPDATE' }), 'operation');
    assert.equal(exempt({}, {}, { operation: '' }), 'operation');
    assert.equal(exempt({}, {}, { subResource: 'binding' }), 'operation');
  });

  test('namespaces', () => {
    assert.equal(exempt({}, {}, { namespace: 'kube-system' }), 'exempt-namespace');
    assert.equal(exempt({}, {}, { namespace: 'cni-gate' }), 'exempt-namespace');
    assert.equal(exempt({}, {}, { namespace: 'kube-public' }), undefined);
  });

  test('a mirror pod, even one whose annotation is empty', () => {
    assert.equal(exempt({}, { annotations: { 'kubernetes.io/config.mirror': '' } }), 'mirror-pod');
  });

  test('host network', () => {
    assert.equal(exempt({ hostNetwork: true }), 'host-network');
    assert.equal(exempt({ hostNetwork: null }), undefined);
  });

  test('Windows: required terms count, preferred ones do not', () => {
    const windows: Spec[] = [
      { os: { name: 'windows' } },
      { nodeSelector: { 'kubernetes.io/os': 'windows' } },
      { nodeSelector: { 'beta.kubernetes.io/os': 'windows' } },
      requires(os('In', ['windows'])),
      requires(os('In', ['windows', 'windows']), os('In', ['windows'], 'beta.kubernetes.io/os')),
    ];
    for (const spec of windows) assert.equal(exempt(spec), 'windows', JSON.stringify(spec));
  });

  test('Linux, both systems, or an unreadable affinity: not exempt', () => {
    const others: Spec[] = [
      { os: { name: 'linux' } },
      { os: null },
      { nodeSelector: { 'kubernetes.io/os': 'linux' } },
      requires(),
      requires(os('In', ['windows', 'linux'])),
      requires(os('NotIn', ['linux'])),
      requires(os('Exists', undefined)),
      requires(os('In', [])),
      requires(os('In', null)),
      requires(os('In', ['windows'], 'node.kubernetes.io/os')),
      requires(os('In', ['windows']), { matchFields: [] }),
      requires(null),
      requires({ matchExpressions: null }),
      requires({ matchExpressions: [null] }),
      { affinity: null },
      { affinity: { nodeAffinity: null } },
      { affinity: 'windows' },
      {
        affinity: {
          nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [os('In', ['windows'])] },
        },
      },
    ];
    for (const spec of others) assert.equal(exempt(spec), undefined, JSON.stringify(spec));
  });

  test("pods of a profile's DaemonSet, by controller, namespace and name", () => {
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent', controller: true };
    const inNet = { namespace: 'net' };
    assert.equal(exempt({}, { ownerReferences: [owner] }, inNet), 'network-daemonset');
    assert.equal(exempt({}, { ownerReferences: [owner] }), undefined);
    assert.equal(exempt({}, { ownerReferences: [{ ...owner, controller: false }] }, inNet), undefined);
    assert.equal(exempt({}, { ownerReferences: [{ ...owner, kind: 'ReplicaSet' }] }, inNet), undefined);
    assert.equal(exempt({}, { ownerReferences: [{ ...owner, name: 'agent-2' }] }, inNet), undefined);
    assert.equal(exempt({}, { ownerReferences: null }, inNet), undefined);
  });

  test('exemptions that keep an earlier injection', () => {
    const all: Exemption[] = [
      'operation',
      'mirror-pod',
      'exempt-namespace',
      'host-network',
      'windows',
      'opted-out',
    ];
    assert.deepEqual(all.filter(isUntouchable), ['operation', 'mirror-pod', 'exempt-namespace']);
  });
});
