import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import { handshakes as limits } from '../../../webhook/lib/limits.ts';
import { Handshakes } from '../../../webhook/server/handshakes.ts';

/** What is asked of an accepted socket. */
class Accepted extends EventEmitter {
  readableLength = 0;
  destroyed = false;
  readonly remoteAddress: string;

  constructor(remoteAddress: string) {
    super();
    this.remoteAddress = remoteAddress;
  }

  sends(bytes: number): void {
    this.readableLength = bytes;
    this.emit('readable');
  }

  destroy(): void {
    if (this.destroyed) return;
    this.destroyed = true;
    setImmediate(() => this.emit('close'));
  }
}

/** Accepts connections, and tells which the TLS server got. */
function accepting({ timeout = 5000, isKnown = (_address: string): boolean => false } = {}) {
  const paced = new Handshakes(timeout);
  const begun: Accepted[] = [];
  const accept = (count: number, address = '10.0.0.2'): Accepted[] =>
    Array.from({ length: count }, () => {
      const accepted = new Accepted(address);
      const socket = accepted as unknown as Socket;
      paced.pace(
        socket,
        () => isKnown(address),
        () => begun.push(accepted),
      );
      return accepted;
    });
  return { accept, begun, end: (one: Accepted) => paced.ended(one as unknown as Socket) };
}

const hello = 1586;

test('connections that all begin in one turn have their handshakes in several, and not all at a time', async () => {
  const { accept, begun, end } = accepting();
  const clients = accept(100);
  await turn();
  assert.equal(begun.length, 0, 'a client that has sent nothing takes no turn');
  for (const client of clients) client.sends(hello);
  assert.equal(begun.length, limits.perTurn);
  await turn();
  assert.equal(begun.length, 2 * limits.perTurn);
  for (let turns = 0; turns < 20; turns++) await turn();
  assert.equal(begun.length, limits.atATime);
  for (const client of [...begun]) end(client);
  for (let turns = 0; turns < 20; turns++) await turn();
  assert.equal(begun.length, 2 * limits.atATime);
  for (const client of clients) client.destroy();
});

test('a known caller does not wait for strangers, and strangers have their turns by address', async () => {
  const { accept, begun } = accepting({ isKnown: (address) => address === '10.0.0.1' });
  const clients = [...accept(50, '10.0.0.2'), ...accept(1, '10.0.0.3'), ...accept(1, '10.0.0.1')];
  for (const client of clients) client.sends(hello);
  const addresses = (): string[] => begun.map(({ remoteAddress }) => remoteAddress);
  assert.deepEqual(addresses(), [...Array(limits.perTurn).fill('10.0.0.2'), '10.0.0.1']);
  await turn();
  assert.ok(addresses().includes('10.0.0.3'));
  for (const client of clients) client.destroy();
});

test('slow handshakes are closed while others wait, and only then', async () => {
  const { accept, begun } = accepting();
  const slow = accept(limits.atATime);
  for (const client of slow) client.sends(hello);
  await sleep(limits.slow + 2 * limits.slowCheck);
  assert.deepEqual(
    slow.filter(({ destroyed }) => destroyed),
    [],
  );
  const [next] = accept(1, '10.0.0.3');
  next?.sends(hello);
  await sleep(2 * limits.slowCheck);
  assert.ok(slow.every(({ destroyed }) => destroyed));
  assert.equal(begun.at(-1), next);
  for (const client of begun) client.destroy();
});

test('a client that sends nothing, closes its side, or sends too much is closed without a handshake', async () => {
  const { accept, begun } = accepting({ timeout: 50 });
  const [silent, closing, large] = accept(3);
  closing?.sends(0);
  large?.sends(limits.helloBytes + 1);
  assert.equal(closing?.destroyed, true);
  assert.equal(large?.destroyed, true);
  if (silent && !silent.destroyed) await once(silent, 'close');
  assert.deepEqual(begun, []);
});

test('the time of a handshake counts from the accept, and ends with the handshake', async () => {
  const { accept, end } = accepting({ timeout: 100 });
  const [late, done] = accept(2);
  await sleep(60);
  late?.sends(hello);
  done?.sends(hello);
  if (done) end(done);
  await sleep(60);
  assert.deepEqual([late?.destroyed, done?.destroyed], [true, false]);
});

test('connections that are closed while they wait leave nothing behind', async () => {
  const { accept, begun, end } = accepting();
  const clients = accept(limits.atATime + 10);
  for (const client of clients) client.sends(hello);
  for (let turns = 0; turns < 20; turns++) await turn();
  const waited = clients.filter((client) => !begun.includes(client));
  for (const client of waited) client.destroy();
  await turn();
  await turn();
  for (const client of [...begun]) end(client);
  for (let turns = 0; turns < 20; turns++) await turn();
  assert.equal(begun.length, limits.atATime);
});
