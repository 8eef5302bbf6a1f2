import { once } from 'node:events';
import { test } from 'node:test';
import { underAttack } from './harness/attack.ts';
import { Connections, hammer } from './harness/connections.ts';

test('100 scrapers that never rest, half of which never read', async (t) => {
  const request = 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n';
  await underAttack(t, async ({ server, signal }) => {
    const connections = new Connections(server);
    const over = once(signal, 'abort');
    await hammer(100, signal, async (index) => {
      const socket = await connections.tcp(server.opsPort);
      const closed = new Promise<void>((resolve) => socket.once('close', resolve));
      if (index % 2 === 0) socket.pause().write(request.repeat(50));
      else socket.on('data', () => socket.write(request)).write(request);
      await Promise.race([closed, over]);
    });
    connections.close();
  });
});

test('100 clients that never rest and request invented nodes and profiles', async (t) => {
  await underAttack(t, async ({ server, signal }) => {
    const connections = new Connections(server);
    const over = once(signal, 'abort');
    await hammer(100, signal, async (index, round) => {
      const socket = await connections.tcp(server.opsPort);
      const closed = new Promise<void>((resolve) => socket.once('close', resolve));
      const path = `/nodes/made-up-${index}-${round}?profile=cilium.made-up-${round}`;
      socket.on('data', () => {}).write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
      await Promise.race([closed, over]);
    });
    connections.close();
  });
});
