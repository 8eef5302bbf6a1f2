import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { NodeScorer } from '../../../webhook/steer/node-scorer.ts';
import { node, usage, waiting } from './support.ts';

suite('the best of some nodes', () => {
  const pod = waiting('web');

  test('usages are requested until eight fitting nodes are known', () => {
    const nodes = Array.from({ length: 20 }, (_, index) => node(`n${index}`));
    const asked = (known: number): number => {
      const isKnown = (name: string): boolean => Number(name.slice(1)) < known;
      return new NodeScorer((name) => (isKnown(name) ? usage({}) : undefined), new Map()).best(pod, nodes)
        .unknown.length;
    };
    assert.deepEqual([asked(0), asked(3), asked(8), asked(12)], [8, 5, 0, 0]);
  });

  test('a pod of the same owner that this plan nominates counts on the node', () => {
    const large = node('n2', { allocatable: { cpu: 9000, pods: 90 } });
    const scorer = new NodeScorer(() => usage({}), new Map());
    const first = scorer.best(pod, [large, node('n3')]).best;
    assert.equal(first?.node.name, 'n2');
    scorer.add(large, pod);
    assert.equal(scorer.best(waiting('other'), [large, node('n3')]).best?.node.name, 'n3');
  });

  test('a resource that the node lacks and of which the pod requests 0 does not count', () => {
    const asking = { ...pod, requests: { cpu: 100, 'example.com/card': 0 } };
    const usages = (name: string) => usage({ cpu: name === 'n3' ? 500 : 0 });
    const { best } = new NodeScorer(usages, new Map()).best(asking, [node('n2'), node('n3')]);
    assert.equal(best?.node.name, 'n2');
    assert.match(best?.why ?? '', /is 10 % full with this one$/);
  });
});
