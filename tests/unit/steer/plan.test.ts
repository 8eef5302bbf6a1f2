import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { NodeFacts } from '../../../webhook/readiness/facts.ts';
import { History } from '../../../webhook/steer/history.ts';
import type { PendingPod } from '../../../webhook/steer/pending-pod.ts';
import { plan, type Snapshot } from '../../../webhook/steer/plan.ts';
import { byUid, known, node, now, usage, waiting } from './support.ts';

const three = [node('n1'), node('n2'), node('n3')];

/** The nominations, as `pod>node`. */
const sent = (pods: PendingPod[], more: Partial<Snapshot> = {}, nodes = three, max = 100): string[] =>
  plan(pods, known(nodes, more), max).nominations.map(({ pod, node: to }) => `${pod.name}>${to}`);

suite('a refused pod is sent', () => {
  const one = waiting('web');
  const inZone = (name: string, zone: string): NodeFacts =>
    node(name, { labels: { 'topology.kubernetes.io/zone': zone } });
  const zoned = [inZone('n1', 'a'), inZone('n2', 'b'), inZone('n3', 'a')];
  const apart = [inZone('n1', 'a'), inZone('n2', 'b'), node('n3')];
  const cases: [
    what: string,
    pod: Partial<PendingPod>,
    more: Partial<Snapshot>,
    expected: string[],
    nodes?: NodeFacts[],
  ][] = [
    ['to a node that accepts it, not to the refused one', {}, {}, ['web>n2']],
    ['to the emptiest node', {}, { usage: (name) => usage({ cpu: name === 'n2' ? 500 : 100 }) }, ['web>n3']],
    [
      'to the node with the fewest pods of its owner, before the emptiest',
      {},
      { usage: (name) => (name === 'n2' ? usage({ cpu: 500 }) : usage({}, { web: 1 })) },
      ['web>n2'],
    ],
    ['nowhere, if no node has free capacity', {}, { usage: () => usage({ cpu: 901 }) }, []],
    [
      'to the node with free capacity',
      {},
      { usage: (name) => usage({ cpu: name === 'n2' ? 901 : 900 }) },
      ['web>n3'],
    ],
    ['nowhere, if all places for pods are taken', {}, { usage: () => usage({ pods: 10 }) }, []],
    ['nowhere, if no other node accepts it', {}, { accepts: () => false }, []],
    ['nowhere, if its node is ready now', {}, { accepts: () => true }, []],
    ['nowhere, if the gate did not refuse it', { refused: undefined }, {}, []],
    ['nowhere, if it is being deleted', { leaving: true }, {}, []],
    ['nowhere, if its requirements are too large', { tooLarge: true }, {}, []],
    ['to a node that its selector allows', { constraints: { nodeSelector: { name: 'n3' } } }, {}, ['web>n3']],
    ['to the zone of the refused node, if it has volumes', { hasVolumes: true }, {}, ['web>n3'], zoned],
    ['to any node, if it has volumes and nodes have no zones', { hasVolumes: true }, {}, ['web>n2']],
    ['to any zone, if it has no volumes', {}, {}, ['web>n2'], zoned],
    ['nowhere, if it has volumes and no other node is in the zone', { hasVolumes: true }, {}, [], apart],
    ['nowhere, if somebody else nominated a node that accepts it', { nominated: 'n3' }, {}, []],
    ['to another node, if the nominated one does not accept it', { nominated: 'n1' }, {}, ['web>n2']],
    ['to another node, if the nominated one does not exist', { nominated: 'n9' }, {}, ['web>n2']],
  ];
  for (const [what, pod, more, expected, nodes] of cases) {
    test(what, () => assert.deepEqual(sent([{ ...one, ...pod }], more, nodes), expected));
  }

  suite('to a node that gets one pod at a time', () => {
    const pods = ['a', 'b', 'c'].map((name) => waiting(name));
    const isTrial = (_: readonly string[], name: string): boolean => name === 'n2';

    test('if no other pod is', () => {
      assert.deepEqual(sent(pods, { isTrial }), ['a>n2', 'b>n3', 'c>n3']);
    });

    test('not while the pod of an earlier round waits, and again once that pod has left', () => {
      const history = new History();
      const [first] = plan(pods, known(three, { history, isTrial }), 1).nominations;
      assert.ok(first);
      history.made(first, '11', now);
      assert.deepEqual(sent(pods.slice(1), { history, isTrial }, three.slice(0, 2)), []);
      history.observe(byUid(...pods.slice(1)), now + 5000);
      assert.deepEqual(sent(pods.slice(1), { history, isTrial }, three.slice(0, 2)), ['b>n2']);
    });

    test('if it has other profiles there, as the others are', () => {
      const others = pods.map((pod) => ({ ...pod, profiles: ['cni'] }));
      const ofMesh = (profiles: readonly string[]): boolean => profiles.includes('mesh');
      assert.equal(sent(others, { isTrial: ofMesh }, three.slice(0, 2)).length, 3);
    });
  });

  test('not to a tainted or cordoned node, unless it tolerates that', () => {
    const taint = { key: 'gpu', value: '', effect: 'NoSchedule' };
    const nodes = [node('n1'), node('n2', { unschedulable: true }), node('n3', { taints: [taint] })];
    assert.deepEqual(sent([one], {}, nodes), []);
    assert.deepEqual(sent([{ ...one, tolerations: [{ key: 'gpu', operator: 'Exists' }] }], {}, nodes), [
      'web>n3',
    ]);
    const cordoned = [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }];
    assert.deepEqual(sent([{ ...one, tolerations: cordoned }], {}, nodes), ['web>n2']);
  });

  test('not to a node for which a nomination was ignored, for ten minutes', () => {
    const two = [node('n1'), node('n2')];
    const history = new History();
    const [first] = plan([one], known(two, { history }), 1).nominations;
    assert.ok(first);
    history.made(first, '11', now);
    const cleared = { ...one, version: '12' };
    history.observe(byUid(cleared), now + 5000);
    const after = (milliseconds: number): string[] =>
      sent([cleared], { history, now: now + 5000 + milliseconds }, two);
    assert.deepEqual([after(599_999), after(600_000)], [[], ['web>n2']]);
  });

  test('the choice is explained', () => {
    const [nomination] = plan([one], known(three), 1).nominations;
    assert.equal(
      nomination?.why,
      'of 2 with free capacity it has the fewest pods of that owner (0), and is 10 % full with this one',
    );
  });
});

suite('many pods', () => {
  const many = Array.from({ length: 30 }, (_, index) => waiting(`web-${String(index).padStart(2, '0')}`));

  test('are spread over the nodes, as many as fit', () => {
    const to = sent(many).map((one) => one.split('>')[1]);
    assert.deepEqual(
      [to.filter((one) => one === 'n2').length, to.filter((one) => one === 'n3').length],
      [10, 10],
    );
  });

  test('up to the maximum, the oldest refusals first', () => {
    const old = waiting('old', { heldSince: now - 5000 });
    assert.deepEqual(sent([...many, old], {}, three, 2), ['old>n2', 'web-00>n3']);
  });

  test('pods that were nominated before count on their node', () => {
    const history = new History();
    for (const pod of many.slice(0, 20)) history.made({ pod, node: 'n2' }, '11', now);
    assert.deepEqual(
      sent(many.slice(20), { history }).filter((one) => one.endsWith('n2')),
      [],
    );
  });

  test('of a group that only the scheduler can judge, one is tried first, then twice as many after each success', () => {
    const history = new History();
    const some = many.map((pod) => ({ ...pod, unverifiable: true }));
    const rounds = [];
    let left = some;
    for (let round = 0; round < 3; round += 1) {
      const { nominations } = plan(left, known(three, { history }), 100);
      rounds.push(nominations.length);
      for (const nomination of nominations) history.made(nomination, '11', now);
      assert.deepEqual(sent(left, { history }), [], 'others while those are open');
      left = left.filter((pod) => !nominations.some((one) => one.pod === pod));
      history.observe(byUid(...left), now);
    }
    // each success doubles it
    assert.deepEqual(rounds, [1, 2, 8]);
  });
});

suite('unknown usage', () => {
  const pod = waiting('web');

  test('is requested for nodes that would fit', () => {
    const { unknown, nominations } = plan([pod], known(three, { usage: () => undefined }), 1);
    assert.deepEqual([unknown, nominations], [['n2', 'n3'], []]);
  });

  test('is requested for eight nodes at a time', () => {
    const nodes = Array.from({ length: 5000 }, (_, index) => node(`n${index}`));
    const { unknown } = plan([pod], known(nodes, { usage: () => undefined, start: 4990 }), 1);
    assert.equal(unknown.length, 8);
    // n1 accepts no pod
    assert.equal(unknown[0], 'n4991');
    const full = new Set(unknown);
    const { unknown: next } = plan(
      [pod],
      known(nodes, { usage: (name) => (full.has(name) ? usage({ cpu: 1000 }) : undefined), start: 4990 }),
      1,
    );
    assert.ok(
      next.length > 0 && next.every((name) => !full.has(name)),
      'not for other nodes, though those are full',
    );
  });
});
