/**
 * `npm run demo`: starts the real server on the loopback, with its own certificate and without a cluster: the objects
 * come from `tests/demo/cluster.yaml`. Sends recorded reviews of a real API server over TLS. Shows a pod before and
 * after, a binding that is refused, and the same binding when it is allowed. Then stops the server.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { selfMadeCertificate } from '../../certs/files.ts';
import { serve } from '../../webhook/server/serve.ts';
import { exchange } from '../support/exchange.ts';
import { type Ask, showCreation } from './creation.ts';
import { cluster, showHold } from './hold.ts';

const profile = 'cilium.linkerd';

const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
const clusterState = join(folder, 'cluster.yaml');
writeFileSync(clusterState, cluster);
const reloaded = Promise.withResolvers<void>();
// the log is read only to notice the reload
const write = (line: string): void => {
  const { msg, source } = JSON.parse(line);
  if (msg === 'reloaded' && source === 'cluster-state') reloaded.resolve();
};
const server = await serve({
  log: pino({}, { write }),
  profile,
  clusterState,
  host: '127.0.0.1',
  port: 0,
  opsPort: 0,
  drainDelay: 0,
  drainTimeout: 1000,
  certificate: async () => selfMadeCertificate(['localhost', '127.0.0.1'], 1),
});
const origin = `https://127.0.0.1:${server.port}`;
console.log(`The server runs on ${origin}. Every namespace has the label cni-gate.io/profile: ${profile}.`);
const ca = server.certificate.authority ?? '';
const headers = { 'content-type': 'application/json' };
const askAt =
  (path: string): Ask =>
  async (review) => {
    const call = request(`${origin}${path}`, { method: 'POST', ca, headers, timeout: 10_000 });
    return JSON.parse((await exchange(call, JSON.stringify(review))).body);
  };
try {
  const injected = await showCreation(askAt('/mutate'));
  const held = await showHold(askAt('/gate'), clusterState, reloaded.promise);
  // CI also runs the demo, which must fail if it did not show what it should
  if (!injected || !held) process.exitCode = 1;
} finally {
  await server.drain();
  rmSync(folder, { recursive: true });
}
