/** Shared by tests of the server's limits: a server with the memory of its container, and calls during an attack. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:tls';
import { recorded } from './reviews.ts';
import { type SmallServer, startSmallServer } from './small-server.ts';

export const MiB = 1024 * 1024;
export const mostMemory = 410;

export const pod = JSON.stringify(recorded('pod-deployment-web'));
export const binding = JSON.stringify(recorded('binding-deployment-web'));

/** Makes ordinary calls until the returned function is called. Fails if a call is not answered with 200. */
function ordinaryCalls(server: SmallServer): () => Promise<number> {
  let stopped = false;
  const calls = (async () => {
    let answered = 0;
    while (!stopped) {
      for (const [path, body] of [
        ['/mutate', pod],
        ['/gate', binding],
      ] as const) {
        const { status, body: answer } = await server.call(path, body);
        assert.equal(status, 200, answer);
        answered++;
      }
      await sleep(10);
    }
    return answered;
  })();
  return () => {
    stopped = true;
    return calls;
  };
}

/** Attacks a new server, which must answer ordinary calls during the attack and stay within its memory. */
export async function during(
  t: TestContext,
  attack: (server: SmallServer) => Promise<void>,
): Promise<{ server: SmallServer; metrics: string }> {
  const server = await startSmallServer(t);
  const stop = ordinaryCalls(server);
  await attack(server);
  // after this time, the server has ended all calls of the attack that had to wait
  await sleep(200);
  const answered = await stop();
  assert.ok(answered >= 2, `${answered} ordinary calls`);
  assert.ok(server.alive(), 'the server runs');
  assert.ok(server.peak() < mostMemory, `${server.peak()} MiB at the most`);
  const metrics = await server.metrics();
  const blocked = /^nodejs_eventloop_lag_max_seconds (\S+)$/m.exec(metrics)?.[1];
  t.diagnostic(`${server.peak().toFixed(0)} MiB, event loop blocked for ${blocked} s, ${answered} calls`);
  return { server, metrics };
}

/** The value of the metric with this label; 0 if there is none. */
export const sum = (metrics: string, name: string, label: string): number =>
  Number(new RegExp(`^${name}\\{[^}]*${label}[^}]*\\} (\\d+)$`, 'm').exec(metrics)?.[1] ?? 0);

export const emptyObjects = (bytes: number): string => `[${'{},'.repeat(Math.floor(bytes / 3) - 1)}{}]`;

export async function open(t: TestContext, server: SmallServer): Promise<Socket> {
  const socket = connect({ host: '127.0.0.1', port: server.port, servername: 'localhost', ca: server.ca });
  socket.on('error', () => {});
  t.after(() => socket.destroy());
  await Promise.race([once(socket, 'secureConnect'), once(socket, 'close')]);
  return socket;
}

export const head = (path: string, length: number): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
