import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { NodeFacts } from '../../../webhook/readiness/facts.ts';
import { History } from '../../../webhook/steer/history.ts';
import type { PendingPod } from '../../../webhook/steer/pending-pod.ts';
import { plan, type Snapshot } from '../../../webhook/steer/plan.ts';
import { byUid, known, node, now, usage, waiting } from './support.ts';

const three = [node('n1'), node('n2'), node('n3')];

/** Where pods are sent, `pod>node`. */
const sent = (pods: PendingPod[], more: Partial<Snapshot> = {}, nodes = three, max = 100): string[] =>
  plan(pods, known(nodes, more), max).nominations.map(({ pod, node: to }) => `${pod.name}>${to}`);

suite('where a pod is sent', () => {
  const one = waiting('web');
  const cases: [what: string, pod: Partial<PendingPod>, more: Partial<Snapshot>, expected: string[]][] = [
    ['to a node that takes it, not to the one it was refused for', {}, {}, ['web>n2']],
    ['to the emptiest', {}, { usage: (name) => usage({ cpu: name === 'n2' ? 500 : 100 }) }, ['web>n3']],
    [
      'rather to the one with the fewest pods of its owner',
      {},
      { usage: (name) => (name === 'n2' ? usage({ cpu: 500 }) : usage({}, { web: 1 })) },
      ['web>n2'],
    ],
    ['nowhere where there is no room', {}, { usage: () => usage({ cpu: 901 }) }, []],
    [
      'to the one that has room',
      {},
      { usage: (name) => usage({ cpu: name === 'n2' ? 901 : 900 }) },
      ['web>n3'],
    ],
    ['nowhere where no more pods may be', {}, { usage: () => usage({ pods: 10 }) }, []],
    ['nowhere where no other node takes it', {}, { accepts: () => false }, []],
    ['nowhere once its node takes it', {}, { accepts: () => true }, []],
    ['nowhere where it was not refused by us', { refused: undefined }, {}, []],
    ['nowhere once it is being deleted', { leaving: true }, {}, []],
    ['nowhere where its wishes are not kept', { tooLarge: true }, {}, []],
    ['where its node selector says', { constraints: { nodeSelector: { name: 'n3' } } }, {}, ['web>n3']],
    ['where its volumes are', { claims: ['data'] }, { volumes: () => onlyOn('n3') }, ['web>n3']],
    [
      'where its volume is being made',
      { claims: ['data'] },
      { volumes: () => ({ affinities: [], selected: ['n3'] }) },
      ['web>n3'],
    ],
    ['nowhere while it is not known where its volumes are', { claims: ['data'] }, {}, []],
    ['nowhere while somebody else has sent it to a node that takes it', { nominated: 'n3' }, {}, []],
    ['elsewhere if that is the node that takes nobody', { nominated: 'n1' }, {}, ['web>n2']],
    ['elsewhere if that node is none', { nominated: 'n9' }, {}, ['web>n2']],
  ];
  for (const [what, pod, more, expected] of cases) {
    test(what, () => assert.deepEqual(sent([{ ...one, ...pod }], more), expected));
  }

  test('not to a node that is tainted or cordoned, unless it tolerates that', () => {
    const taint = { key: 'gpu', value: '', effect: 'NoSchedule' };
    const nodes = [node('n1'), node('n2', { unschedulable: true }), node('n3', { taints: [taint] })];
    assert.deepEqual(sent([one], {}, nodes), []);
    assert.deepEqual(sent([{ ...one, tolerations: [{ key: 'gpu', operator: 'Exists' }] }], {}, nodes), [
      'web>n3',
    ]);
    const cordoned = [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }];
    assert.deepEqual(sent([{ ...one, tolerations: cordoned }], {}, nodes), ['web>n2']);
  });

  test('not to a node that has pods enough of a kind that must be spread', () => {
    const wants = { maxSkew: 1, selects: [{ key: 'app', operator: 'In', values: ['web'] }], itself: true };
    const spread = { ...one, neighbours: { spread: [wants], apart: [], kind: 'spread' } };
    const crowded = { ...usage({}), pods: new Map([['u1', mate]]) };
    assert.deepEqual(sent([spread], { usage: (name) => (name === 'n2' ? crowded : usage({})) }), ['web>n3']);
    assert.deepEqual(sent([spread], { usage: (name) => (name === 'n1' ? usage({}) : crowded) }), []);
    assert.deepEqual(sent([spread], { usage: () => crowded }), ['web>n2']);
    assert.deepEqual(sent([one], { usage: (name) => (name === 'n1' ? usage({}) : crowded) }), ['web>n2']);
    // as long as it is not known how many there are where it was refused
    const { nominations, unknown } = plan(
      [spread],
      known(three, { usage: (name) => (name === 'n1' ? undefined : usage({})) }),
      1,
    );
    assert.deepEqual([nominations, unknown.usages], [[], ['n1']]);
  });

  const mate = { namespace: 'shop', labels: { app: 'web' }, leaving: false };
  const changes: [what: string, more: Partial<Snapshot>, nodes?: NodeFacts[]][] = [
    ['a pod came', { usage: () => ({ ...usage({}), pods: new Map([['u1', mate]]) }) }],
    ['more is taken of it', { usage: () => usage({ cpu: 1 }) }],
    ['its labels', {}, [node('n1'), node('n2', { labels: { zone: 'a' } })]],
    ['it is a new one of that name', {}, [node('n1'), node('n2', { uid: 'other' })]],
  ];
  for (const [what, more, nodes] of changes) {
    test(`not where that was ignored, for as long as nothing changes there; again once something did: ${what}`, () => {
      const two = [node('n1'), node('n2')];
      const history = new History();
      const [first] = plan([one], known(two, { history }), 1).nominations;
      assert.ok(first);
      history.made(first, '11', now);
      const cleared = { ...one, version: '12' };
      history.observe(byUid(cleared), now + 5000);
      const at = (minutes: number, changed: Partial<Snapshot>, among = two): string[] =>
        sent([cleared], { history, ...changed, now: now + minutes * 60_000 }, among);
      // a heartbeat is no change
      const later = [node('n1'), node('n2', { version: '99' })];
      assert.deepEqual([at(5, {}, later), at(15, {}, later), at(600, {}, later)], [[], [], []]);
      assert.deepEqual(at(5, more, nodes), [], 'within ten minutes');
      assert.deepEqual(at(15, more, nodes), ['web>n2']);
    });
  }

  test('pods that look at others wait until those are where they are, and look again then', () => {
    const selects = [{ key: 'app', operator: 'In', values: ['web'] }];
    const apart = { spread: [], apart: [selects], kind: 'apart' };
    const shy: PendingPod = { ...one, neighbours: apart, heldSince: now };
    const looked = (at: number) => (name: string) => (name === 'n3' ? undefined : { ...usage({}), at });
    const next = (at: number, pod = shy): [string[], string[], number | undefined] => {
      const more = { now: at, usage: looked(now + 900) };
      const { nominations, unknown, again } = plan([pod], known(three, more), 1);
      return [nominations.map(({ node: to }) => to), unknown.usages, again];
    };
    assert.deepEqual(next(now + 999), [[], [], now + 1000]);
    assert.deepEqual(next(now + 1000), [[], ['n3', 'n2'], undefined]);
    const since = plan([shy], known(three, { now: now + 2000, usage: looked(now + 1000) }), 1);
    assert.deepEqual(
      since.nominations.map(({ node: to }) => to),
      ['n2'],
    );
    // whoever does not look at others, and whoever was refused by a clock that is ahead, waits for nothing
    assert.deepEqual(next(now, { ...one, heldSince: now })[0], ['n2']);
    assert.deepEqual(next(now, { ...shy, heldSince: now + 60_000 })[0], ['n2']);
  });

  test('the choice is explained', () => {
    const [nomination] = plan([one], known(three), 1).nominations;
    assert.equal(
      nomination?.why,
      'of 2 with free capacity it has the fewest pods of that owner (0), and is 10 % full with this one',
    );
  });

  const onlyOn = (name: string) => ({
    affinities: [[{ matchExpressions: [{ key: 'name', operator: 'In', values: [name] }] }]],
    selected: [],
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

  test('no more at a time than was said, those that wait longest first', () => {
    const old = waiting('old', { heldSince: now - 5000 });
    assert.deepEqual(sent([...many, old], {}, three, 2), ['old>n2', 'web-00>n3']);
  });

  test('those that were sent before count as if they were there', () => {
    const history = new History();
    for (const pod of many.slice(0, 20)) history.made({ pod, node: 'n2', fingerprint: '' }, '11', now);
    assert.deepEqual(
      sent(many.slice(20), { history }).filter((one) => one.endsWith('n2')),
      [],
    );
  });

  test('of a group with wishes that only the scheduler can judge, one is tried first, then twice as many', () => {
    const history = new History();
    const some = many.map((pod) => ({ ...pod, unverifiable: true }));
    const rounds = [];
    let left = some;
    for (let round = 0; round < 3; round += 1) {
      const { nominations } = plan(left, known(three, { history }), 100);
      rounds.push(nominations.length);
      for (const nomination of nominations) history.made(nomination, '11', now);
      assert.deepEqual(sent(left, { history }), [], 'while those are open, no others');
      left = left.filter((pod) => !nominations.some((one) => one.pod === pod));
      history.observe(byUid(...left), now);
    }
    // each one that worked doubles it
    assert.deepEqual(rounds, [1, 2, 8]);
  });
});

suite('what is not known', () => {
  const pod = waiting('web');

  test('rooms are asked for, of nodes that would do', () => {
    const { unknown, nominations } = plan([pod], known(three, { usage: () => undefined }), 1);
    assert.deepEqual([unknown, nominations], [{ usages: ['n2', 'n3'], volumes: [] }, []]);
  });

  test('not of more nodes than a choice needs', () => {
    const nodes = Array.from({ length: 5000 }, (_, index) => node(`n${index}`));
    const { unknown } = plan([pod], known(nodes, { usage: () => undefined, start: 4990 }), 1);
    assert.equal(unknown.usages.length, 8);
    // n1 takes nobody and does not count
    assert.equal(unknown.usages[0], 'n4991');
    const full = new Set(unknown.usages);
    const { unknown: next } = plan(
      [pod],
      known(nodes, { usage: (name) => (full.has(name) ? usage({ cpu: 1000 }) : undefined), start: 4990 }),
      1,
    );
    assert.ok(
      next.usages.length > 0 && next.usages.every((name) => !full.has(name)),
      'others, where those are full',
    );
  });

  test('volumes are asked for, where a pod has claims', () => {
    const claiming = waiting('db', { claims: ['data'] });
    assert.deepEqual(plan([pod, claiming], known(three), 9).unknown.volumes, [claiming]);
  });
});
