import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Sites } from '../../../webhook/steer/sites.ts';
import { node, room, waiting } from './support.ts';

suite('the best of some nodes', () => {
  const pod = waiting('web');

  test('rooms are asked for until eight that fit are known', () => {
    const nodes = Array.from({ length: 20 }, (_, index) => node(`n${index}`));
    const asked = (known: number): number => {
      const isKnown = (name: string): boolean => Number(name.slice(1)) < known;
      return new Sites((name) => (isKnown(name) ? room({}) : undefined), new Map()).best(pod, nodes).unknown
        .length;
    };
    assert.deepEqual([asked(0), asked(3), asked(8), asked(12)], [8, 5, 0, 0]);
  });

  test('a pod of its owner that this plan sends there counts as one that is there', () => {
    const large = node('n2', { allocatable: { cpu: 9000, pods: 90 } });
    const sites = new Sites(() => room({}), new Map());
    const first = sites.best(pod, [large, node('n3')]).site;
    assert.equal(first?.node.name, 'n2');
    if (first) sites.add(first, pod);
    assert.equal(sites.best(waiting('other'), [large, node('n3')]).site?.node.name, 'n3');
  });

  test('what a node has none of, and the pod asks for none of, makes it no fuller', () => {
    const asking = { ...pod, requests: { cpu: 100, 'example.com/card': 0 } };
    const rooms = (name: string) => room({ cpu: name === 'n3' ? 500 : 0 });
    const { site, why } = new Sites(rooms, new Map()).best(asking, [node('n2'), node('n3')]);
    assert.equal(site?.node.name, 'n2');
    assert.match(why, /is 10 % full with this one$/);
  });
});
