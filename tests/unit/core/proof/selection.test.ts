import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Container, Pod } from '../../../../webhook/core/facts/pod.ts';
import type { Condition, Profile } from '../../../../webhook/core/profiles/types.ts';
import { exemption, select } from '../../../../webhook/core/proof/selection.ts';
import { requiring } from '../../../support/affinity.ts';
import { policyOf } from '../../../support/configurations.ts';

type Spec = Partial<Pod['spec']>;

// the golden cases `exempt-*` show a pod for each exemption; these tests cover the edge cases
suite('exemption', () => {
  function exempt(spec: Spec, metadata: Pod['metadata'] = {}, request = {}) {
    const pod: Pod = { metadata, spec: { containers: [{ name: 'app' }], ...spec } };
    const asked = { namespace: 'shop', operation: 'CREATE', subResource: '', pod };
    return exemption({ ...asked, ...request }, new Set(['net/agent']), 'cni-gate');
  }

  const os = (operator: string, values: unknown, key = 'kubernetes.io/os'): unknown => ({
    matchExpressions: [{ key, operator, values }],
  });
  const requires = (...terms: unknown[]): Spec => ({ affinity: requiring(...terms) });

  test('operations, namespaces and the host network', () => {
    assert.equal(exempt({}), undefined);
    assert.equal(exempt({}, {}, { operation: 'UPDATE' }), 'operation');
    assert.equal(exempt({}, {}, { subResource: 'binding' }), 'operation');
    assert.equal(exempt({}, {}, { namespace: 'kube-public' }), undefined);
    assert.equal(exempt({}, { annotations: { 'kubernetes.io/config.mirror': '' } }), 'mirror-pod');
    assert.equal(exempt({ hostNetwork: null }), undefined);
  });

  const systems: [expected: 'windows' | undefined, ...specs: Spec[]][] = [
    [
      'windows',
      { nodeSelector: { 'kubernetes.io/os': 'windows' } },
      { nodeSelector: { 'beta.kubernetes.io/os': 'windows' } },
      requires(os('In', ['windows', 'windows']), os('In', ['windows'], 'beta.kubernetes.io/os')),
    ],
    [undefined, { os: { name: 'linux' } }, { nodeSelector: { 'kubernetes.io/os': 'linux' } }],
    [undefined, requires(), requires(os('In', ['windows', 'linux'])), requires(os('NotIn', ['windows']))],
    [undefined, requires(os('In', [])), requires(os('In', null)), requires(null)],
    [undefined, requires(os('In', ['windows'], 'node.kubernetes.io/os'))],
    [undefined, requires(os('In', ['windows']), { matchFields: [] }), requires({ matchExpressions: [null] })],
    [undefined, { affinity: { nodeAffinity: null } }, { affinity: 'windows' }],
  ];
  test('Windows: by node selector, or if each required term selects Windows', () => {
    for (const [expected, ...specs] of systems)
      for (const spec of specs) assert.equal(exempt(spec), expected, JSON.stringify(spec));
  });
});

suite('when', () => {
  const metadata = { labels: { tier: 'front', empty: '' }, annotations: { note: 'x' } };
  const spec = { initContainers: [{ name: 'first' }], containers: [{ name: 'app' }] };
  const { proof } = policyOf();

  /** Whether a profile with these conditions applies to a pod. */
  function holds(when: Condition | Condition[], pod: Pod = { metadata, spec }): boolean {
    const profile: Profile = { name: 'p', when, daemonSets: [], annotations: {}, proof: { checks: [] } };
    const policy = { proof, combineProfiles: () => [profile] };
    const selection = select(
      pod,
      { copiedLabel: false },
      { 'cni-gate.io/profile': 'p', env: 'prod' },
      policy,
    );
    assert.ok(typeof selection === 'object');
    return selection.profiles.length === 1;
  }

  const conditions: [Condition | Condition[], boolean][] = [
    [{}, true],
    [{ container: 'app' }, true],
    [{ container: 'first' }, true],
    [{ container: 'other' }, false],
    [{ noContainer: 'other' }, true],
    [{ noContainer: 'first' }, false],
    [[{ container: 'other' }, { container: 'app' }], true],
    // the operators work as in a label selector of Kubernetes
    [{ labels: { tier: 'front' } }, true],
    [{ labels: { tier: 'back' } }, false],
    [{ labels: { absent: 'front' } }, false],
    [{ labels: { empty: '' } }, true],
    [{ labels: { absent: '' } }, false],
    [{ labels: { tier: { in: ['back', 'front'] } } }, true],
    [{ labels: { absent: { in: ['front'] } } }, false],
    [{ labels: { tier: { notIn: ['front'] } } }, false],
    [{ labels: { absent: { notIn: ['front'] } } }, true],
    [{ labels: { empty: { exists: true } } }, true],
    [{ labels: { absent: { exists: true } } }, false],
    [{ labels: { absent: { exists: false } } }, true],
    [{ labels: { tier: { exists: false } } }, false],
    [{ labels: { tier: { exists: true, notIn: ['back'] } } }, true],
    [{ labels: { tier: { exists: true, notIn: ['front'] } } }, false],
    [{ labels: { absent: { exists: true, notIn: ['front'] } } }, false],
    [{ labels: { tier: { in: ['front'], notIn: ['front'] } } }, false],
    // every condition must match in its own map; properties that a map inherits from its prototype do not count
    [{ annotations: { note: 'x' }, namespaceLabels: { env: 'prod' } }, true],
    [{ annotations: { tier: 'front' } }, false],
    [{ labels: { env: 'prod' } }, false],
    [{ container: 'app', labels: { tier: 'front' }, namespaceLabels: { env: 'dev' } }, false],
    [{ labels: { toString: { exists: true } } }, false],
    [{ namespaceLabels: { valueOf: { exists: true } } }, false],
  ];
  for (const [when, expected] of conditions)
    test(`${JSON.stringify(when)}: ${expected}`, () => assert.equal(holds(when), expected));

  test('args and env are those of the named container', () => {
    const app = { name: 'app', args: ['proxy', 'sidecar'], env: [{ name: 'OFF', value: 'yes' }] };
    const beside = (proxy?: Partial<Container>): Pod => ({
      metadata: {},
      spec: { containers: [app, ...(proxy ? [{ name: 'proxy', ...proxy }] : [])] },
    });
    const args = { container: 'proxy', args: ['proxy', 'sidecar'] };
    assert.equal(holds(args, beside({ args: ['proxy', 'sidecar', '--more'] })), true);
    for (const other of [['proxy', 'router'], ['proxy'], ['sidecar', 'proxy'], [], null, 'proxy' as never])
      assert.equal(holds(args, beside({ args: other })), false, String(other));
    assert.equal(holds(args, beside({})), false);
    assert.equal(holds(args, beside()), false);

    const env = (...values: (string | undefined)[]): Pod =>
      beside({ env: values.map((value) => ({ name: 'OFF', ...(value !== undefined && { value }) })) });
    const off = { container: 'proxy', env: { OFF: { notIn: ['true'] } } };
    assert.equal(holds(off, beside({})), true, 'absent');
    assert.equal(holds(off, env('false')), true);
    assert.equal(holds(off, env('true')), false);
    assert.equal(holds(off, env('true', 'false')), true, 'the last');
    assert.equal(holds(off, env(undefined)), true, 'a value from elsewhere');
    const on = { container: 'proxy', env: { OFF: { exists: true } } };
    assert.equal(holds(on, env(undefined)), false, 'a value from elsewhere');
    assert.equal(holds(on, env('')), true);
  });
});
