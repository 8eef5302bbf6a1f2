import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Pod } from '../../../webhook/admission/pod.ts';
import { applies } from '../../../webhook/admission/when.ts';
import type { Condition, Profile } from '../../../webhook/config/types.ts';

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
  test('no condition holds for every pod', () => assert.equal(holds({}), true));

  test('a container is looked for among containers and init containers', () => {
    assert.equal(holds({ container: 'app' }), true);
    assert.equal(holds({ container: 'first' }), true);
    assert.equal(holds({ container: 'other' }), false);
    assert.equal(holds({ noContainer: 'other' }), true);
    assert.equal(holds({ noContainer: 'first' }), false);
  });

  test('a value, in, notIn and exists mean what they mean in a label selector', () => {
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
    ];
    for (const [labels = {}, expected] of matchers) {
      assert.equal(holds({ labels }), expected, JSON.stringify(labels));
    }
  });

  test('labels, annotations and labels of the namespace are told apart, and all have to hold', () => {
    assert.equal(holds({ annotations: { note: 'x' }, namespaceLabels: { env: 'prod' } }), true);
    assert.equal(holds({ annotations: { tier: 'front' } }), false);
    assert.equal(holds({ labels: { env: 'prod' } }), false);
    assert.equal(
      holds({ container: 'app', labels: { tier: 'front' }, namespaceLabels: { env: 'dev' } }),
      false,
    );
  });

  test('of a list one has to hold', () => {
    assert.equal(holds([{ container: 'other' }, { labels: { tier: 'front' } }]), true);
    assert.equal(holds([{ container: 'other' }, { labels: { tier: 'back' } }]), false);
  });

  test('maps may be absent or null, and keys of JavaScript are not there unless they are', () => {
    for (const labels of [undefined, null]) {
      const bare: Pod = { metadata: { ...(labels === null && { labels }) }, spec: { containers: [] } };
      assert.equal(holds({ labels: { tier: { exists: true } } }, bare), false);
      assert.equal(holds({ labels: { constructor: { exists: false } } }, bare), true);
    }
    assert.equal(holds({ labels: { toString: { exists: true } } }), false);
    assert.equal(holds({ namespaceLabels: { valueOf: { exists: true } } }), false);
  });
});
