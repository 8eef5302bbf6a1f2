import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { PodRequest } from '../../../../webhook/admission/review.ts';
import type { Pod } from '../../../../webhook/core/facts/pod.ts';
import { exemption } from '../../../../webhook/core/proof/selection.ts';
import { requiring } from '../../../support/affinity.ts';

const daemonSets = new Set(['net/agent']);
type Spec = Partial<Pod['spec']>;

function exempt(spec: Spec, metadata: Pod['metadata'] = {}, request: Partial<PodRequest> = {}) {
  const pod: Pod = { metadata, spec: { containers: [{ name: 'app' }], ...spec } };
  const names = { uid: 'u', namespace: 'shop', name: 'a' };
  const asked = { ...names, operation: 'CREATE', subResource: '', dryRun: false, pod };
  return exemption({ ...asked, ...request }, daemonSets, 'cni-gate');
}

const requires = (...terms: unknown[]): Spec => ({ affinity: requiring(...terms) });

const os = (operator: string, values: unknown, key = 'kubernetes.io/os'): unknown => ({
  matchExpressions: [{ key, operator, values }],
});

// the golden cases `exempt-*` show one of each kind; these are the edges of the rules
suite('exemption', () => {
  test('operations, namespaces and the host network', () => {
    assert.equal(exempt({}), undefined);
    assert.equal(exempt({}, {}, { operation: 'UPDATE' }), 'operation');
    assert.equal(exempt({}, {}, { subResource: 'binding' }), 'operation');
    assert.equal(exempt({}, {}, { namespace: 'kube-public' }), undefined);
    assert.equal(exempt({}, { annotations: { 'kubernetes.io/config.mirror': '' } }), 'mirror-pod');
    assert.equal(exempt({ hostNetwork: null }), undefined);
  });

  test('Windows: by node selector, or where each required term selects it', () => {
    const windows: Spec[] = [
      { nodeSelector: { 'kubernetes.io/os': 'windows' } },
      { nodeSelector: { 'beta.kubernetes.io/os': 'windows' } },
      requires(os('In', ['windows', 'windows']), os('In', ['windows'], 'beta.kubernetes.io/os')),
    ];
    for (const spec of windows) assert.equal(exempt(spec), 'windows', JSON.stringify(spec));
  });

  test('Linux, both systems, or an unreadable affinity: not exempt', () => {
    const others: Spec[] = [
      { os: { name: 'linux' } },
      { nodeSelector: { 'kubernetes.io/os': 'linux' } },
      requires(),
      requires(os('In', ['windows', 'linux'])),
      requires(os('NotIn', ['linux'])),
      requires(os('In', [])),
      requires(os('In', null)),
      requires(os('In', ['windows'], 'node.kubernetes.io/os')),
      requires(os('In', ['windows']), { matchFields: [] }),
      requires(null),
      requires({ matchExpressions: [null] }),
      { affinity: { nodeAffinity: null } },
      { affinity: 'windows' },
    ];
    for (const spec of others) assert.equal(exempt(spec), undefined, JSON.stringify(spec));
  });
});
