import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { PodEvidence } from '../../../webhook/evidence/facts.ts';
import { RepairHistory } from '../../../webhook/repair/history.ts';
import { planRepair } from '../../../webhook/repair/plan.ts';
import type { LeftAloneReason } from '../../../webhook/repair/types.ts';
import { controllerOf, budgets as defaultBudgets, failedPod, Pods, snapshotOf, start } from './support.ts';

const [second, minute] = [1000, 60_000];
const now = 100 * minute;

type Given = Parameters<typeof snapshotOf>[1];

/** Pods, a history, and rounds as the leader makes them. */
class Leader {
  readonly history = new RepairHistory();
  readonly pods: Pods;
  now = now;
  #given: Given;

  constructor(pods: PodEvidence[], given: Given = {}) {
    this.pods = new Pods(...pods);
    this.#given = given;
  }

  /** @returns the recreated pods, and why each of the others was left alone */
  round(given: Given = this.#given): { made: string[]; left: LeftAloneReason[]; again: number | undefined } {
    this.history.observe(this.pods, this.now);
    const known = snapshotOf(this.pods.failed, given);
    const namespaces = Array.from(this.pods.failed, ({ namespace }) => namespace);
    this.history.needed(new Set(namespaces), this.now);
    const { recreations, again } = planRepair(known, this.history, this.now);
    for (const recreation of recreations) {
      this.history.made(recreation, this.pods, this.now);
      this.pods.remove(recreation.pod.uid);
    }
    return {
      made: recreations.map(({ pod }) => pod.name),
      left: known.left.map(({ reason }) => reason),
      again: again === undefined ? undefined : again - this.now,
    };
  }

  /** A new pod of a controller, with its verdict. */
  comes(given: Parameters<typeof failedPod>[0]): void {
    this.pods.put(start, failedPod({ startedAt: start + this.now, at: start + this.now, ...given }));
  }
}

const web = (count: number): PodEvidence[] =>
  Array.from({ length: count }, (_, index) => failedPod({ name: `web-${index}`, createdAt: start + index }));

suite('a controller', () => {
  test('one pod is tried, and after its success all others at once', () => {
    const leader = new Leader(web(4));
    const { made, left } = leader.round();
    assert.deepEqual([made, left], [['web-0'], Array(3).fill('owner-turn')]);
    leader.comes({ name: 'web-4', verdict: 'waiting' });
    assert.deepEqual(leader.round().made, [], 'no verdict yet');
    leader.comes({ name: 'web-4', verdict: 'passed' });
    assert.deepEqual(leader.round({ passedAt: start }).made, ['web-1', 'web-2', 'web-3']);
  });

  test('its pods that were there before say nothing about the one that was recreated', () => {
    const leader = new Leader([...web(2), failedPod({ name: 'old', verdict: 'passed', node: 'n2' })]);
    leader.round();
    assert.deepEqual(leader.round().made, []);
  });

  test('no verdict for 5 s: a second one is tried, once, and both are one failure', () => {
    const leader = new Leader(web(5));
    leader.round();
    assert.deepEqual([leader.round().made, leader.round().again], [[], 5 * second]);
    leader.now += 5 * second;
    assert.deepEqual(leader.round().made, ['web-1']);
    leader.now += 5 * second;
    assert.deepEqual(leader.round().made, []);
    leader.comes({ name: 'web-0-again' });
    leader.round();
    leader.now += 4 * second;
    leader.comes({ name: 'web-1-again' });
    assert.equal(leader.round().again, second);
    leader.now += second;
    assert.equal(leader.round().made.length, 1);
    leader.now += 5 * second;
    assert.deepEqual(leader.round().made, [], 'after a failure, one at a time');
  });

  test('no verdict for 5 s while another node is ready: no second one', () => {
    const leader = new Leader(web(2), { state: 'closed', elsewhere: true });
    leader.round();
    leader.now += 5 * second;
    assert.deepEqual(leader.round().made, []);
  });

  test('recreated pods fail again: pauses of 5, 10, 20 s', () => {
    const leader = new Leader([...web(5)]);
    for (const [index, pause] of [5, 10, 20].entries()) {
      assert.equal(leader.round().made.length, 1);
      leader.now += second;
      leader.comes({ name: `again-${index}` });
      const { made, left, again } = leader.round();
      assert.deepEqual([made, new Set(left), again], [[], new Set(['owner-pause']), pause * second]);
      leader.now += pause * second;
    }
    assert.equal(leader.round().made.length, 1);
  });

  test('a success ends its pauses', () => {
    const leader = new Leader(web(3));
    leader.round();
    leader.comes({ name: 'again' });
    leader.round();
    leader.now += 10 * second;
    assert.equal(leader.round().made.length, 1);
    leader.comes({ name: 'well', verdict: 'passed' });
    assert.equal(leader.round({ passedAt: start + 2 * leader.now }).made.length, 2);
  });

  test('its budget still counts after a success', () => {
    const leader = new Leader(web(4), { passedAt: start, budgets: { perOwnerPerMinute: 2 } });
    assert.equal(leader.round().made.length, 2);
    leader.comes({ name: 'a', verdict: 'passed' });
    leader.comes({ name: 'b', verdict: 'passed' });
    leader.now += 59 * second;
    leader.round();
    assert.deepEqual(leader.round().left, ['budget', 'budget']);
    leader.now += second;
    assert.equal(leader.round().made.length, 2);
  });

  test('no verdict for a minute: the next one is tried after a pause, and a late success still counts', () => {
    const leader = new Leader(web(4));
    leader.round();
    leader.now += minute;
    assert.deepEqual(new Set(leader.round().left), new Set(['owner-pause']));
    leader.now += 10 * second;
    assert.equal(leader.round().made.length, 1);
    leader.comes({ name: 'a', verdict: 'passed' });
    assert.equal(leader.round({ passedAt: start }).made.length, 2);
  });

  test('no verdict for ten minutes: the outcome is unknown', () => {
    const leader = new Leader(web(1));
    leader.round();
    leader.now += 10 * minute;
    assert.deepEqual(
      leader.history.observe(leader.pods, leader.now).map(({ outcome, successor }) => [outcome, successor]),
      [['unknown', undefined]],
    );
  });

  test('a verdict that says nothing of the network is no outcome: the next one is tried', () => {
    const leader = new Leader(web(2));
    leader.round();
    leader.comes({ name: 'a', verdict: 'crashed' });
    assert.equal(leader.round().made.length, 1);
    assert.deepEqual(leader.history.stopped(), []);
  });
});

suite('a node', () => {
  const owners = (count: number, prefix = 'p', given: Partial<PodEvidence> = {}): PodEvidence[] =>
    Array.from({ length: count }, (_, index) =>
      failedPod({
        name: `${prefix}${index}`,
        controller: controllerOf(`${prefix}${index}`),
        createdAt: start + index,
        ...given,
      }),
    );
  const again = (name: string, node = 'n1') =>
    ({ name: `${name}-again`, controller: controllerOf(name), node }) as const;

  test('has to be proved: one pod at a time finds out, while the gate would let one through', () => {
    const leader = new Leader(owners(3), { state: 'unproved' });
    assert.deepEqual(leader.round().made, ['p0']);
    assert.deepEqual(leader.round().left, ['node-to-prove', 'node-to-prove'], 'its verdict is expected');
    leader.comes(again('p0'));
    assert.deepEqual(leader.round({ state: 'unproved', turn: false }).made, [], 'the gate pauses');
    assert.deepEqual(leader.round().made, ['p1'], 'controllers without a failure come first');
  });

  test('no verdict for a minute of the pod that finds out: the next one follows', () => {
    const leader = new Leader(owners(2), { state: 'unproved' });
    leader.round();
    leader.now += minute - 1;
    assert.deepEqual(leader.round().left, ['node-to-prove']);
    leader.now += 1;
    assert.deepEqual(leader.round().made, ['p1']);
  });

  test('pods of one namespace fail again: repair stops there, and not elsewhere', () => {
    const bad = owners(20, 'bad', { namespace: 'bad' });
    const leader = new Leader(bad, { passedAt: start });
    assert.equal(leader.round().made.length, 20);
    for (let index = 0; index < 10; index += 1)
      leader.comes({ ...again(`bad${index}`), namespace: 'bad', startedAt: start - minute });
    for (const pod of [...owners(2, 'more', { namespace: 'bad' }), ...owners(2, 'good')])
      leader.pods.put(start, pod);
    const { made, left } = leader.round();
    assert.deepEqual(made, ['good0', 'good1']);
    assert.ok(left.includes('breaker'));
    assert.deepEqual(leader.history.stopped(), ['bad']);
    leader.now += minute;
    assert.deepEqual(leader.round().made, ['more0'], 'one finds out');
    leader.comes({ ...again('more0'), namespace: 'bad', verdict: 'passed' });
    assert.ok(leader.round().made.includes('more1'));
    assert.deepEqual(leader.history.stopped(), []);
  });

  test('a stop ends a minute after the last failed pod of its namespace is gone', () => {
    const bad = owners(20, 'bad', { namespace: 'bad' });
    const leader = new Leader(bad, { passedAt: start });
    leader.round();
    const failed = Array.from({ length: 10 }, (_, index) => again(`bad${index}`));
    for (const pod of failed) leader.comes({ ...pod, namespace: 'bad', startedAt: start - minute });
    leader.round();
    leader.now += minute - 1;
    leader.round();
    assert.deepEqual(leader.history.stopped(), ['bad'], 'its pods wait for the end of the stop');
    for (const pod of leader.pods.all()) leader.pods.remove(pod.uid);
    leader.round();
    leader.now += minute - 1;
    leader.round();
    assert.deepEqual(leader.history.stopped(), ['bad']);
    leader.now += 1;
    leader.round();
    assert.deepEqual(leader.history.stopped(), []);
  });
});

suite('what the executor tells', () => {
  test('a pod that is still reported after its deletion is not deleted again', () => {
    const leader = new Leader(web(1));
    const [pod] = leader.pods.all();
    leader.round();
    assert.ok(pod);
    leader.pods.put(start, { ...pod, version: '2' });
    for (const wait of [0, minute, 60 * minute]) {
      leader.now += wait;
      assert.deepEqual(leader.round().left, ['under-way']);
    }
  });

  test('a conflict: nothing until a newer version is reported', () => {
    const leader = new Leader(web(1));
    const [pod] = leader.pods.all();
    assert.ok(pod);
    leader.history.stale(pod);
    assert.deepEqual(leader.round().left, ['under-way']);
    leader.pods.put(start, { ...pod, version: '2' });
    assert.deepEqual(leader.round().made, ['web-0']);
  });

  test('a failure: the pod pauses', () => {
    const leader = new Leader(web(1));
    const [pod] = leader.pods.all();
    assert.ok(pod);
    leader.history.failed(pod, leader.now);
    assert.deepEqual(leader.round().left, ['under-way']);
    leader.now += 10 * second;
    assert.deepEqual(leader.round().made, ['web-0']);
  });

  test('audit: each pod once, at the speed of the budgets, and nothing is expected of it', () => {
    const leader = new Leader(web(3));
    const audit = (): string[] => {
      leader.history.observe(leader.pods, leader.now);
      const { recreations } = planRepair(
        snapshotOf(leader.pods.failed, { passedAt: start, budgets: { perMinute: 2 } }),
        leader.history,
        leader.now,
      );
      for (const recreation of recreations) leader.history.audited(recreation, leader.now);
      return recreations.map(({ pod }) => pod.name);
    };
    assert.deepEqual(audit(), ['web-0', 'web-1']);
    assert.deepEqual(audit(), []);
    leader.now += minute;
    assert.deepEqual(audit(), ['web-2']);
    leader.now += minute;
    assert.deepEqual(audit(), []);
  });
});

suite('a deletion without an answer', () => {
  const [pod, other] = web(2);
  assert.ok(pod && other);
  const recreation = { pod, how: 'delete', why: '', probes: true } as const;

  test('is repeated at once if the pod is still there, and counts once for the budgets', () => {
    const leader = new Leader([pod, other]);
    leader.history.unanswered(recreation, leader.pods, leader.now);
    leader.history.unanswered(recreation, leader.pods, leader.now + second);
    leader.now += 2 * second;
    const budgets = { ...defaultBudgets, perMinute: 1, perOwnerPerMinute: 1 };
    assert.deepEqual(leader.round({ budgets }).made, ['web-0']);
    assert.equal(leader.history.roomOfCluster(3, leader.now).count, 2);
  });

  test('counts as made once the pod is gone: others wait for the verdict of the pod that replaces it', () => {
    const leader = new Leader([pod, other]);
    leader.history.unanswered(recreation, leader.pods, leader.now);
    leader.pods.remove(pod.uid);
    assert.deepEqual(leader.round().left, ['owner-turn']);
    leader.comes({ name: 'web-2', verdict: 'passed' });
    assert.deepEqual(leader.round().made, ['web-1']);
  });

  test('a minute later, the budgets hold for it again', () => {
    const leader = new Leader([pod, other]);
    leader.history.unanswered(recreation, leader.pods, leader.now);
    leader.now += minute;
    assert.equal(leader.history.isCounted(pod, leader.now), false);
  });
});
