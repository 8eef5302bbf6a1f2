import assert from 'node:assert/strict';
import { once } from 'node:events';
import fs from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { attemptRedirect } from '../../../validator/checks/redirect.ts';
import { listen } from '../../../validator/listener.ts';
import { plan } from '../../../validator/plan.ts';
import { readPod } from '../../../validator/pod.ts';
import { prove } from '../../../validator/prove.ts';
import { readChecks } from '../../../validator/read-checks.ts';
import './on-node.ts';

const pod = { ...readPod({ CNI_GATE_POD_IPS: '10.9.0.2' }, 1, () => []) };

test('a check that throws is reported as a defect, and the others continue', async (t) => {
  const read = fs.readFileSync;
  t.mock.method(fs, 'readFileSync', (path: string, encoding: 'utf8') => {
    if (path === '/proc/net/route') throw new Error('no such luck');
    return read(path, encoding);
  });
  const asked = readChecks(
    JSON.stringify([
      { profile: 'cilium', gateway: { timeout: '0s' } },
      { profile: 'multus', interfaces: { timeout: '0s' } },
    ]),
  );
  const results = await prove(plan(asked, pod), pod, () => {});
  assert.deepEqual(
    [...results.values()].map(({ check, finding }) => [check, finding.passed ? 'passed' : finding.reason]),
    [
      ['gateway', 'unexpected'],
      ['interfaces', 'passed'],
    ],
  );
});

/** A port of the loopback interface on which nobody listens. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

test('a redirect frees its port', async () => {
  const [port, other] = await Promise.all([freePort(), freePort()]);
  const check = {
    direction: 'inbound',
    listen: port,
    connect: [`127.0.0.1:${other}`],
    timeout: '0s',
  } as const;
  const finding = await attemptRedirect({ ...check, connect: [...check.connect] }, 'IPv4', pod)(0);
  assert.equal(finding.passed ? 'passed' : finding.reason, 'not-redirected');
  const listener = await listen(port, 'IPv4', Buffer.from('token'), false);
  assert.ok(typeof listener !== 'string', String(listener));
  listener.close();
});
