import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';

import { Metrics } from '../../../webhook/server/metrics.ts';
import { createApp } from '../../../webhook/server/serve.ts';

test('of 1 MiB that a client sends before its handshake begins, the server keeps one chunk at most', async (t) => {
  const app = createApp({ log: pino({ level: 'silent' }), metrics: new Metrics() }, false);
  const { server } = app;
  // in place of the TLS server, a function that waits for the first bytes and then for a turn
  server.removeAllListeners('connection');
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => {});
  t.after(() => client.destroy());
  const [accepted] = (await once(server, 'connection')) as [Socket];
  t.after(() => accepted.destroy());
  client.write(Buffer.alloc(1024));
  await once(accepted, 'readable');
  client.write(Buffer.alloc(1024 * 1024));
  await sleep(200);
  assert.ok(accepted.readableLength > 0);
  assert.ok(accepted.readableLength <= 64 * 1024, `${accepted.readableLength} bytes`);
});
