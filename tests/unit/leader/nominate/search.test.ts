import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { GateAnswer } from '../../../../webhook/leader/nominate/accepts.ts';
import { findNodes, inOrder } from '../../../../webhook/leader/nominate/search.ts';
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
});

suite('the comparison with 10,000 nodes', () => {
  const all = Array.from({ length: 10_000 }, (_, index) => node(`n${index}`));

  test('leaves the event loop to others in between', async () => {
    let compared = 0;
    const gate = (): GateAnswer => {
      compared += 1;
      return { blocker: undefined, onePod: false };
    };
    const over = findNodes(waiting('web'), all, { gate, zone: undefined }, signal);
    for (let before = 0; compared < all.length; before = compared) {
      await nextTurn();
      assert.ok(compared - before <= 2 * planLimits.slice, `${compared - before} in one turn`);
    }
    await over;
  });

  test('ends when it is aborted', async () => {
    const stop = new AbortController();
    const over = findNodes(waiting('web'), all, { gate: gateWithout(''), zone: undefined }, stop.signal);
    stop.abort(new Error('over'));
    await assert.rejects(over, { message: 'over' });
  });
});
