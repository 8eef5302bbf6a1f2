import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Container, Pod } from '../../../../webhook/core/facts/pod.ts';
import type { Condition, Profile } from '../../../../webhook/core/profiles/types.ts';
import { applies } from '../../../../webhook/core/proof/selection.ts';

const pod: Pod = {
  metadata: { labels: { tier: 'front', empty: '' }, annotations: { note: 'x' } },
  spec: { initContainers: [{ name: 'first' }], containers: [{ name: 'app' }] },
};
const namespaceLabels = { env: 'prod' };

const holds = (
  when: Condition | Condition[],
  of = pod,
  labels: Record<string, string> = namespaceLabels,
): boolean => {
  const profile: Profile = { name: 'p', when, daemonSets: [], annotations: {}, proof: { checks: [] } };
  return applies(profile, of, labels);
};

suite('when', () => {
  test('container: containers and init containers count', () => {
    assert.equal(holds({}), true);
    assert.equal(holds({ container: 'app' }), true);
    assert.equal(holds({ container: 'first' }), true);
    assert.equal(holds({ container: 'other' }), false);
    assert.equal(holds({ noContainer: 'other' }), true);
    assert.equal(holds({ noContainer: 'first' }), false);
  });

  test('a value, in, notIn and exists match as in a label selector', () => {
    const matchers: [Condition['labels'], boolean][] = [
      [{ tier: 'front' }, true],
      [{ tier: 'back' }, false],
      [{ absent: 'front' }, false],
      [{ empty: '' }, true],
      [{ absent: '' }, false],
      [{ tier: { in: ['back', 'front'] } }, true],
      [{ absent: { in: ['front'] } }, false],
      [{ tier: { notIn: ['front'] } }, false],
      [{ absent: { notIn: ['front'] } }, true],
      [{ empty: { exists: true } }, true],
      [{ absent: { exists: true } }, false],
      [{ absent: { exists: false } }, true],
      [{ tier: { exists: false } }, false],
      [{ tier: { exists: true, notIn: ['back'] } }, true],
      [{ tier: { exists: true, notIn: ['front'] } }, false],
      [{ absent: { exists: true, notIn: ['front'] } }, false],
      [{ tier: { in: ['front'], notIn: ['front'] } }, false],
    ];
    for (const [labels = {}, expected] of matchers) {
      assert.equal(holds({ labels }), expected, JSON.stringify(labels));
    }
  });

  test('labels, annotations and namespaceLabels must all match', () => {
    assert.equal(holds({ annotations: { note: 'x' }, namespaceLabels: { env: 'prod' } }), true);
    assert.equal(holds({ annotations: { tier: 'front' } }), false);
    assert.equal(holds({ labels: { env: 'prod' } }), false);
    assert.equal(
      holds({ container: 'app', labels: { tier: 'front' }, namespaceLabels: { env: 'dev' } }),
      false,
    );
  });

  test('args and env are those of the named container', () => {
    const proxied = (...proxies: Partial<Container>[]): Pod => ({
      metadata: {},
      spec: {
        containers: [
          { name: 'app', args: ['proxy', 'sidecar'], env: [{ name: 'OFF', value: 'yes' }] },
          ...proxies.map((more) => ({ name: 'proxy', ...more })),
        ],
      },
    });
    const args = { container: 'proxy', args: ['proxy', 'sidecar'] };
    assert.equal(holds(args, proxied({ args: ['proxy', 'sidecar', '--more'] })), true);
    for (const other of [['proxy', 'router'], ['proxy'], ['sidecar', 'proxy'], [], null])
      assert.equal(holds(args, proxied({ args: other })), false, String(other));
    assert.equal(holds(args, proxied({ args: 'proxy' as never })), false, 'no list');
    assert.equal(holds(args, proxied({})), false);
    assert.equal(holds(args, proxied()), false);

    const off = { container: 'proxy', env: { OFF: { notIn: ['true'] } } };
    const variable = (value?: string) => ({ name: 'OFF', ...(value !== undefined && { value }) });
    assert.equal(holds(off, proxied({})), true, 'absent');
    assert.equal(holds(off, proxied({ env: [variable('false')] })), true);
    assert.equal(holds(off, proxied({ env: [variable('true')] })), false);
    assert.equal(holds(off, proxied({ env: [variable('true'), variable('false')] })), true, 'the last');
    assert.equal(holds(off, proxied({ env: [variable()] })), true, 'a value from elsewhere');
    const on = { container: 'proxy', env: { OFF: { exists: true } } };
    assert.equal(holds(on, proxied({ env: [variable()] })), false, 'a value from elsewhere');
    assert.equal(holds(on, proxied({ env: [variable('')] })), true);
  });

  test('absent and null maps match nothing, and prototype keys do not count', () => {
    for (const labels of [undefined, null]) {
      const bare: Pod = { metadata: { ...(labels === null && { labels }) }, spec: { containers: [] } };
      assert.equal(holds({ labels: { tier: { exists: true } } }, bare), false);
      assert.equal(holds({ labels: { constructor: { exists: false } } }, bare), true);
    }
    assert.equal(holds({ labels: { toString: { exists: true } } }), false);
    assert.equal(holds({ namespaceLabels: { valueOf: { exists: true } } }), false);
  });
});
