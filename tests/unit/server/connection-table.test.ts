import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { knownCallers } from '../../../webhook/lib/limits.ts';
import { Callers } from '../../../webhook/server/callers.ts';
import {
  type Connection,
  type ConnectionState,
  ConnectionTable,
} from '../../../webhook/server/connection-table.ts';

const answerTimeout = 1000;
const known = '10.0.0.1';

function table({ callers = [known] } = {}) {
  const knowing = { knows: (address: string) => callers.includes(address) };
  const connections = new ConnectionTable(answerTimeout, knowing);
  const add = (address: string, state: ConnectionState = 'new', since = 0): Connection => {
    const connection: Connection = { socket: {} as Socket, address, state, since, open: 0 };
    connections.add(connection);
    return connection;
  };
  return { connections, add };
}

test('strangers go in order: never answered, not reading, idle; by address with the most, oldest first', () => {
  const { connections, add } = table({ callers: [] });
  const stuck = add('a', 'busy', 5);
  add('a', 'busy', 100);
  const expected = [
    add('b', 'new', 20),
    add('b', 'new', 30),
    add('a', 'new', 10),
    stuck,
    add('c', 'idle', 1),
  ];
  for (const since of [200, 210, 220]) add('b', 'busy', since);
  for (const victim of expected) {
    const found = connections.leastMissed('d', answerTimeout + 50);
    assert.deepEqual([found?.address, found?.since], [victim.address, victim.since]);
    connections.remove(victim);
  }
  assert.equal(connections.leastMissed('d', answerTimeout + 50), undefined, 'those that are answered stay');
  assert.equal(connections.size, 4);
});

test('connections of a known caller stay while a thousand addresses open connections', () => {
  const { connections, add } = table();
  const own = [...Array(20).keys()].map((index) => add(known, index % 2 === 0 ? 'new' : 'idle'));
  for (let index = 0; index < 1000; index++) add(`10.1.${index >> 8}.${index & 255}`, 'new', 1 + index);
  for (let index = 0; index < 1000; index++) {
    const victim = connections.leastMissed(`10.2.0.${index}`, 5000);
    assert.ok(victim && victim.address !== known);
    connections.remove(victim);
  }
  assert.equal(connections.size, own.length);
  assert.equal(connections.leastMissed('10.2.0.1', 5000), undefined, 'a stranger takes nothing from it');
  // a caller that is known as well does
  assert.equal(connections.leastMissed(known, 5000)?.state, 'new');
});

test('a known caller loses what it has beyond its share, as others do', () => {
  const { connections, add } = table();
  for (let index = 0; index < knownCallers.share + 5; index++) add(known, 'new', index);
  add('a');
  for (let index = 0; index < 5; index++) {
    const victim = connections.leastMissed('b', 5000);
    assert.deepEqual([victim?.address, victim?.since], [known, index]);
    if (victim) connections.remove(victim);
  }
  assert.equal(connections.leastMissed('b', 5000)?.address, 'a');
});

test('calls in progress do not use up the share', () => {
  const { connections, add } = table();
  for (let index = 0; index < 100; index++) add(known, 'busy', 5000);
  add(known, 'new');
  add('a', 'idle', 10);
  assert.equal(connections.leastMissed('b', 5000)?.address, 'a');
});

test('among callers that are all known, fairness goes by address', () => {
  const { connections, add } = table({ callers: [known, 'a', 'b'] });
  add(known);
  for (let index = 0; index < 5; index++) add('a', 'new', 10 + index);
  assert.equal(connections.leastMissed('b', 5000)?.address, 'a');
});

test('a connection is listed by its state, and one that was replaced stays away', () => {
  const { connections, add } = table({ callers: [] });
  const connection = add('a');
  connections.enter(connection, 'busy', 10);
  assert.equal(connections.leastMissed('b', 20), undefined);
  connections.enter(connection, 'idle', 20);
  assert.equal(connections.leastMissed('b', 30), connection);
  connections.remove(connection);
  connections.remove(connection);
  connections.enter(connection, 'busy', 40);
  assert.equal(connections.size, 0);
  assert.equal(connections.leastMissed('b', 50), undefined);
});

test('addresses are known for a time from their last answer, and only so many', () => {
  const callers = new Callers();
  callers.answered('a', 0);
  assert.equal(callers.knows('a', knownCallers.remember - 1), true);
  assert.equal(callers.knows('a', knownCallers.remember), false);
  assert.equal(callers.knows('b', 0), false);
  for (let index = 0; index < knownCallers.addresses - 1; index++) callers.answered(`other ${index}`, 1);
  callers.answered('a', 2);
  callers.answered('one more', 3);
  assert.equal(callers.knows('a', 3), true, 'who is answered again and again is not forgotten');
  assert.equal(callers.knows('other 0', 3), false);
});
