import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { PodEvidence } from '../../../../webhook/core/facts/pod-evidence.ts';
import { Evidence } from '../../../../webhook/core/networks/evidence.ts';
import { decide } from '../../../../webhook/leader/repair/decide.ts';
import { RepairMemory } from '../../../../webhook/leader/repair/memory.ts';
import type { NodeForProfile } from '../../../../webhook/leader/repair/networks.ts';
import { controllerOf, budgets as defaults, factsWith, failedPod, lostPod, start } from './support.ts';

const [second, minute] = [1000, 60_000];

class Leader {
  memory = new RepairMemory();
  readonly evidence = new Evidence();
  now = 100 * minute;
  readonly #deleted = new Map<string, PodEvidence>();
  node: Partial<NodeForProfile> = {};
  elsewhere = false;
  budgets = defaults;

  constructor(...pods: PodEvidence[]) {
    this.evidence.subscribe((changes) => {
      for (const change of changes) this.memory.observe(change, this.now);
    });
    this.put(...pods);
  }

  put(...pods: PodEvidence[]): void {
    const changes = pods.map((pod) => ({ type: 'put', pod, listed: false }) as const);
    this.evidence.apply(changes, start);
  }

  comes(given: Parameters<typeof failedPod>[0]): void {
    this.put(failedPod({ ...given, verdict: 'waiting' }));
    this.put(failedPod(given));
  }

  deleted(name: string): PodEvidence {
    const pod = this.#deleted.get(name);
    assert.ok(pod, name);
    return pod;
  }

  decide(pod: PodEvidence): ReturnType<typeof decide> {
    return decide(pod, {
      ...factsWith(this.node, this),
      limit: (one, turn) => this.memory.limit(one, turn, this.budgets, this.now),
    });
  }

  /** Decides about all pods that failed or are not ready. @returns the deleted pods, or why the first is not deleted */
  look(): string {
    this.memory.sweep(this.now);
    const deleted: string[] = [];
    let left = '';
    for (const pod of [...this.evidence.pods()].filter(isBroken)) {
      const decision = this.decide(pod);
      if ('reason' in decision) {
        left ||= decision.reason;
        continue;
      }
      this.memory.begin(pod, this.budgets, this.now);
      this.evidence.apply([{ type: 'gone', uid: pod.uid }], start);
      deleted.push(pod.name);
      this.#deleted.set(pod.name, pod);
    }
    return deleted.length > 0 ? deleted.join(' ') : left;
  }
}

const isBroken = ({ verdict, unready }: PodEvidence): boolean =>
  verdict === 'failed' || unready !== undefined;

const web = (count: number, of = 'web', given: Partial<PodEvidence> = {}): PodEvidence[] =>
  Array.from({ length: count }, (_, index) =>
    failedPod({ name: `${of}-${index}`, controller: controllerOf(of), ...given }),
  );

suite('the pods of a controller', () => {
  test('one is tried, and after its success all others immediately', () => {
    const leader = new Leader(...web(4));
    assert.equal(leader.look(), 'web-0');
    leader.put(failedPod({ name: 'new', verdict: 'waiting' }));
    assert.equal(leader.look(), 'owner-turn');
    leader.put(failedPod({ name: 'new', verdict: 'passed' }));
    assert.equal(leader.look(), 'web-1 web-2 web-3');
  });

  test('that are lost: one after another, whatever has passed', () => {
    const names = ['a', 'b', 'c'];
    const leader = new Leader(...names.map((name) => lostPod({ name })));
    leader.node = { passedAt: { at: start } };
    for (const name of names) {
      assert.equal(leader.look(), name);
      assert.equal(leader.look(), name === 'c' ? '' : 'owner-turn');
      leader.comes({ name: `new-${name}`, verdict: 'passed' });
    }
  });

  test('that are lost wait up to ten minutes for the verdict of the replacement, even if it finds no node', () => {
    const leader = new Leader(lostPod({ name: 'a' }), lostPod({ name: 'b' }));
    assert.equal(leader.look(), 'a');
    for (const [after, expected] of [
      [10 * minute - 1, 'owner-turn'],
      [1, 'owner-pause'],
      [5 * second, 'b'],
    ] as const) {
      leader.now += after;
      assert.equal(leader.look(), expected);
    }
  });

  test('five minutes after a success, one is tried again', () => {
    for (const [since, deleted] of [
      [5 * minute - 1, 'late-0 late-1'],
      [5 * minute, 'late-0'],
    ] as const) {
      const leader = new Leader(...web(1));
      leader.look();
      leader.comes({ name: 'new', verdict: 'passed' });
      leader.now += since;
      leader.put(...web(2, 'late', { controller: controllerOf('web') }));
      assert.equal(leader.look(), deleted);
    }
  });

  test('the verdict of a pod that existed before does not count for the one that was recreated', () => {
    const leader = new Leader(...web(2), failedPod({ name: 'old', verdict: 'waiting' }));
    leader.look();
    leader.put(failedPod({ name: 'old', verdict: 'passed' }));
    assert.equal(leader.look(), 'owner-turn');
  });

  test('recreated pods fail again: pauses of 5, 10, 20 s, and finally 10 minutes', () => {
    const leader = new Leader(...web(20));
    for (const [index, pause] of [5, 10, 20, 40, 80, 160, 320, 600, 600].entries()) {
      assert.doesNotMatch(leader.look(), /owner/);
      leader.comes({ name: `new-${index}` });
      leader.now += pause * second - 1;
      assert.equal(leader.look(), 'owner-pause');
      leader.now += 1;
    }
    leader.look();
    leader.comes({ name: 'good', verdict: 'passed' });
    leader.look();
    leader.comes({ name: 'bad' });
    leader.now += 5 * second;
    assert.notEqual(leader.look(), 'owner-pause', 'a success ends the long pauses');
  });

  /** A leader that has deleted four pods at the same time, because the replacement of an earlier pod passed. */
  function fourAtOnce(): Leader {
    const leader = new Leader(...web(1));
    leader.look();
    leader.comes({ name: 'new', verdict: 'passed' });
    leader.put(...web(4, 'late', { controller: controllerOf('web') }));
    assert.equal(leader.look(), 'late-0 late-1 late-2 late-3');
    return leader;
  }

  test('several fail together after a success: the pause is that of one failure, and then one is tried', () => {
    const leader = fourAtOnce();
    for (const index of [0, 1, 2, 3]) leader.comes({ name: `again-${index}` });
    assert.equal(leader.look(), 'owner-pause');
    leader.now += 5 * second;
    assert.equal(leader.look(), 'again-0');
  });

  test('no verdict for a minute after a success: one is tried after a pause', () => {
    const leader = fourAtOnce();
    leader.now += minute;
    assert.equal(leader.look(), '');
    leader.put(...web(2, 'more', { controller: controllerOf('web') }));
    assert.equal(leader.look(), 'owner-pause');
    leader.now += 5 * second;
    assert.equal(leader.look(), 'more-0');
  });

  test('a replacement fails on the node that it was to leave: it moves immediately, while the gate blocks that node', () => {
    const leader = new Leader(...web(1));
    leader.node = { state: 'unproved' };
    leader.elsewhere = true;
    assert.equal(leader.look(), 'web-0');
    leader.comes({ name: 'again' });
    assert.equal(leader.look(), 'again');
    leader.comes({ name: 'there' });
    leader.node = {};
    assert.equal(leader.look(), 'owner-pause');
  });

  test('no verdict for a minute: the next one follows after a pause, and a late success still counts', () => {
    const leader = new Leader(...web(3));
    leader.look();
    leader.put(failedPod({ name: 'late', verdict: 'waiting' }));
    leader.now += minute;
    assert.equal(leader.look(), 'owner-pause');
    leader.put(failedPod({ name: 'late', verdict: 'passed' }));
    assert.equal(leader.look(), 'web-1 web-2');
  });

  test('a deletion that was refused keeps no other pod waiting', () => {
    const leader = new Leader(...web(2));
    const [pod] = leader.evidence.pods();
    assert.ok(pod);
    leader.memory.begin(pod, leader.budgets, leader.now);
    assert.equal(leader.look(), 'web-0', 'it does not wait for itself');
    leader.memory.cancel(pod);
    assert.equal(leader.look(), 'web-1');
  });
});

suite('budgets', () => {
  for (const [budget, given] of [
    ['perNodePerMinute', { node: 'n2' }],
    ['perOwnerPerMinute', { controller: controllerOf('other') }],
    ['perMinute', undefined],
  ] as const) {
    test(`${budget}: half of it immediately, then as many as it says in a minute`, () => {
      const leader = new Leader(...web(20));
      leader.node = { passedAt: { at: start } };
      leader.budgets = { ...defaults, [budget]: 6 };
      assert.equal(leader.look().split(' ').length, 3);
      assert.equal(leader.look(), 'budget');
      leader.now += minute / 6;
      assert.equal(leader.look().split(' ').length, 1);
      leader.put(...web(1, 'free', given ?? {}));
      assert.equal(leader.look(), given === undefined ? 'budget' : 'free-0');
    });
  }

  test('half of the budgets of a node and of the cluster is reserved for owners whose pods have passed', () => {
    const other = web(20, 'db', { controller: controllerOf('db') });
    const leader = new Leader(...web(20), ...other);
    leader.memory = new RepairMemory((owner) => owner === other[0]?.owner);
    leader.node = { passedAt: { at: start } };
    leader.budgets = { ...defaults, perNodePerMinute: 16 };
    const deleted = leader.look().split(' ');
    assert.deepEqual(Map.groupBy(deleted, (name) => name.slice(0, 2)).get('db')?.length, 4);
    assert.equal(deleted.length, 8);
  });
});

suite('the breaker', () => {
  /** Lets repair delete one failed pod of each of `count` controllers. Then the replacements fail as well. */
  function failAgain(leader: Leader, namespace: string, count: number): void {
    leader.node = { passedAt: { at: start } };
    const all = Array.from({ length: count }, (_, index) =>
      web(1, `${namespace}${index}`, { namespace }),
    ).flat();
    leader.put(...all);
    leader.look();
    for (const { name, controller } of all) leader.comes({ name: `${name}-again`, namespace, controller });
  }
  const good = web(1, 'good', { node: 'n2' });

  test('one namespace does not stop the repair of others, however many of its pods fail again', () => {
    const leader = new Leader();
    failAgain(leader, 'bad', 30);
    leader.put(...good);
    assert.equal(leader.look(), 'good-0');
  });

  /** A leader whose repair has stopped, because replacements failed for ten controllers in three namespaces. */
  function stopped(): Leader {
    const leader = new Leader(...web(1, 'old', { node: 'n2' }));
    leader.look();
    leader.comes({ name: 'old-again', controller: controllerOf('old'), verdict: 'passed' });
    failAgain(leader, 'one', 5);
    failAgain(leader, 'two', 3);
    assert.ok(!leader.memory.isStopped(leader.now));
    failAgain(leader, 'three', 2);
    assert.equal(leader.look(), 'breaker');
    return leader;
  }

  test('lasts for five minutes, and begins anew if the replacements fail again', () => {
    const leader = stopped();
    for (const turn of [1, 2]) {
      leader.now += 5 * minute - 1;
      assert.equal(leader.look(), 'breaker', `stop ${turn}`);
      leader.now += 1;
      const deleted = leader.look().split(' ');
      assert.equal(deleted.length, 10);
      for (const name of deleted) {
        const { controller, namespace } = leader.deleted(name);
        leader.comes({ name: `${name}-again`, controller, namespace });
      }
      assert.ok(leader.memory.isStopped(leader.now));
    }
  });

  test('a namespace whose pods did not fail again tries one immediately, and repair continues when it passes', () => {
    const leader = stopped();
    leader.put(...web(2, 'good', { node: 'n2' }), ...web(2, 'fine', { node: 'n2' }));
    assert.equal(leader.look(), 'good-0');
    leader.comes({ name: 'good-again', controller: controllerOf('good'), verdict: 'passed' });
    assert.match(leader.look(), /good-1 fine-0/);
    assert.ok(!leader.memory.isStopped(leader.now));
  });

  test('a namespace whose immediate try fails waits like the others, and keeps none of them waiting', () => {
    const leader = stopped();
    leader.now += minute;
    leader.put(...web(2, 'good', { node: 'n2' }));
    assert.equal(leader.look(), 'good-0');
    leader.comes({ name: 'good-again', controller: controllerOf('good') });
    leader.now += 4 * minute - 1;
    assert.equal(leader.look(), 'breaker');
    leader.now += 1;
    assert.match(leader.look(), /one0-0/);
  });

  test('a deletion that was refused does not count as a try', () => {
    const leader = stopped();
    leader.put(...good);
    const [pod] = [...leader.evidence.pods()].filter(({ name }) => name === 'good-0');
    assert.ok(pod);
    leader.memory.begin(pod, leader.budgets, leader.now);
    leader.memory.cancel(pod);
    assert.equal(leader.look(), 'good-0');
  });
});
