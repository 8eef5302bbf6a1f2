import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { clientHello } from '../support/client-hello.ts';
import { head } from '../support/exchange.ts';
import { duration, underAttack } from './harness/attack.ts';
import { Connections, hammer } from './harness/connections.ts';

const MiB = 1024 * 1024;

test('100 connections that hold back the last byte of 3 MiB', async (t) => {
  const max = Buffer.alloc(3 * MiB - 1, ' ');
  await underAttack(t, async ({ server, signal }) => {
    const connections = new Connections(server);
    // an attacker whose connection is closed opens another one
    await hammer(100, signal, async () => {
      const socket = await connections.tls();
      socket.write(head('/gate', 3 * MiB));
      socket.write(max);
      while (!socket.destroyed && !signal.aborted) await sleep(100);
    });
    connections.close();
  });
});

test('600 connections that hold back the last byte of small bodies', async (t) => {
  const { innocent } = await underAttack(t, async ({ server, signal }) => {
    const connections = new Connections(server);
    await hammer(600, signal, async (index) => {
      // large bodies use up the memory for bodies in large steps, and small bodies use up what is left
      const size = index % 2 === 0 ? 5000 : 52_000;
      const socket = await connections.tls();
      socket.once('data', () => socket.destroy());
      socket.write(head('/gate', size));
      socket.write(Buffer.alloc(size - 1, ' '));
      while (!socket.destroyed && !signal.aborted) await sleep(10);
    });
    connections.close();
  });
  assert.equal(innocent.retries, 0);
});

/** How many connections to open. The server accepts 1,024 at a time; opening 8,500 takes a minute on two busy cores. */
const idle = Number(process.env.CNI_GATE_ATTACK_CONNECTIONS ?? 1500);

test(`${idle.toLocaleString('en')} idle TLS connections`, async (t) => {
  let [opened, left] = [0, 0];
  await underAttack(
    t,
    async ({ server, signal }) => {
      const connections = new Connections(server);
      await hammer(100, signal, async () => {
        if (opened >= idle) await sleep(100);
        else {
          opened++;
          await connections.tls();
        }
      });
      left = connections.size;
      connections.close();
    },
    { over: Math.max(duration, 6 * idle) },
  );
  t.diagnostic(`${opened} were opened, ${left} are left`);
  assert.ok(opened >= idle, `only ${opened} connections`);
  assert.ok(left <= 1100, `${left} connections are left`);
});

test('1,000 clients that repeatedly begin their TLS handshakes at the same time', async (t) => {
  const hello = await clientHello();
  let rounds = 0;
  await underAttack(t, async ({ server, signal }) => {
    while (!signal.aborted) {
      const connections = new Connections(server);
      const sockets: Socket[] = [];
      for (let count = 0; count < 1000; count += 50)
        sockets.push(...(await Promise.all(Array.from({ length: 50 }, () => connections.tcp()))));
      for (const socket of sockets) if (!socket.destroyed) socket.resume().write(hello);
      await sleep(500);
      connections.close();
      rounds++;
    }
  });
  t.diagnostic(`${rounds} times`);
});

test('300 slow clients that send a byte now and then, or never read an answer', async (t) => {
  const bytes = Buffer.from(head('/gate', 2000) + ' '.repeat(2000));
  await underAttack(t, async ({ server, signal }) => {
    const connections = new Connections(server);
    await hammer(300, signal, async (index) => {
      const socket = (await connections.tls()).pause();
      // one in three sends byte by byte, one stops within the headers, and one sends many requests but reads no answer
      if (index % 3 === 0) {
        for (let sent = 0; sent < bytes.length && !socket.destroyed && !signal.aborted; sent++) {
          socket.write(bytes.subarray(sent, sent + 1));
          await sleep(200);
        }
      } else {
        socket.write(index % 3 === 1 ? bytes.subarray(0, 40) : Buffer.concat(Array(50).fill(bytes)));
        while (!socket.destroyed && !signal.aborted) await sleep(200);
      }
    });
    connections.close();
  });
});
