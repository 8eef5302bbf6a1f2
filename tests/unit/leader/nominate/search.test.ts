import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { findNodes, inOrder } from '../../../../webhook/leader/nominate/search.ts';
import { inSlices } from '../../../../webhook/leader/slices.ts';
import { planLimits } from '../../../../webhook/lib/limits.ts';
import { gateWithout, node, now, waiting } from './support.ts';

const { signal } = new AbortController();
const nodes = Array.from({ length: 20 }, (_, index) => node(`n${index}`));
const names = (some: Iterable<{ name: string }>): string[] => Array.from(some, ({ name }) => name);

suite('the order of nodes', () => {
  const key = waiting('web').key;

  test('has each node once, and another start later and for another key', () => {
    const order = names(inOrder(nodes, key, () => 0, now));
    assert.deepEqual(order.toSorted(), names(nodes).toSorted());
    assert.deepEqual(names(inOrder(nodes, key, () => 0, now)), order);
    const [first] = order;
    const [later] = inOrder(nodes, key, () => 0, now + 10_000);
    const [other] = inOrder(nodes, 'shop/otherkey', () => 0, now);
    assert.notEqual(later?.name, first);
    assert.notEqual(other?.name, first);
  });

  test('begins with the nodes of a group of eight that have the fewest open nominations', () => {
    const [first, second] = names(inOrder(nodes, key, () => 0, now));
    const order = names(inOrder(nodes, key, (name) => (name === first ? 2 : name === second ? 1 : 0), now));
    assert.deepEqual(order.slice(6, 8), [second, first]);
  });

  test('is empty without nodes', () => assert.deepEqual([...inOrder([], key, () => 0, now)], []));
});

test('nodes are found, and counted by what is wrong with the others', async () => {
  const gate = gateWithout('n0');
  const some = [...nodes.slice(0, 3), node('small', { allocatable: { cpu: 50, pods: 10 } })];
  const { fitting, counts } = await findNodes(waiting('web'), some, { gate, zone: undefined }, signal);
  assert.deepEqual(names(fitting), ['n1', 'n2']);
  assert.deepEqual([...counts].toSorted(), [
    ['notReady', 1],
    ['tooSmall', 1],
  ]);
});

suite('work in slices', () => {
  /** The largest number of steps in one turn of the event loop. */
  async function largestTurn(work: (looked: (steps: number) => void) => Promise<unknown>): Promise<number> {
    let [turn, largest, isOver] = [0, 0, false];
    const done = work((steps) => {
      turn += steps;
      largest = Math.max(largest, turn);
    }).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      turn = 0;
      await nextTurn();
    }
    await done;
    return largest;
  }

  test('takes no more steps in a turn of the event loop than a slice has: 10,000 pods, and 15,000 nodes', async () => {
    for (const [count, steps] of [
      [10_000, 20],
      [15_000, 111],
    ] as const) {
      const items = Array.from({ length: count }, (_, index) => index);
      let total = 0;
      const largest = await largestTurn((looked) =>
        inSlices(
          items,
          () => steps,
          () => looked(steps),
          signal,
        ).then((sum) => {
          total = sum;
        }),
      );
      assert.equal(total, count * steps);
      assert.ok(largest <= planLimits.sliceSteps, `${largest} steps in one turn`);
    }
  });

  test('ends when it is aborted', async () => {
    const stop = new AbortController();
    let looked = 0;
    const work = inSlices(
      Array.from({ length: 10 }, () => planLimits.sliceSteps),
      (steps) => steps,
      () => {
        looked += 1;
        if (looked === 2) stop.abort(new Error('over'));
      },
      stop.signal,
    );
    await assert.rejects(work, { message: 'over' });
    assert.equal(looked, 2);
  });
});
