import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configurationOf } from '../support/configurations.ts';
import { type Family, familiesOf, gatewayAddress, nodeAddress, outsideAddress } from './harness/addresses.ts';
import { listen, serveNames } from './harness/listeners.ts';
import { startProof } from './harness/proof.ts';
import { Sandbox } from './harness/sandbox.ts';
import type { Shape } from './harness/shape.ts';

/** Runs a proof with the check `reach`, which no built-in profile uses. */
function reach(sandbox: Sandbox, host: string, timeout = '3s', nameServers?: string[]) {
  const check = { reach: { host, port: 5432, timeout } };
  const configuration = configurationOf({ profiles: [{ name: 'database', proof: { checks: [check] } }] });
  return startProof(sandbox, { profile: 'database' }, { configuration, ...(nameServers && { nameServers }) })
    .ended;
}

describe('reach', { concurrency: 4 }, () => {
  const hosts: [where: string, hosts: Record<Family, string>, reason?: string, shape?: Partial<Shape>][] = [
    ['the node, which listens', gatewayAddress],
    ['the node, at an address where it does not listen', nodeAddress, 'connect-refused'],
    ['an unused address', outsideAddress, 'connect-timed-out'],
    ['the pod has no route there', outsideAddress, 'unreachable', { defaultRoute: false }],
  ];
  for (const family of familiesOf('dual'))
    for (const [where, addresses, reason, shape] of hosts)
      test(`${family}: ${where}`, async () => {
        await using sandbox = await Sandbox.make(shape);
        await listen(sandbox, 'node', { host: gatewayAddress[family], tcp: [5432], manner: 'silent' });
        const { code, message, log } = await reach(sandbox, addresses[family]);
        assert.deepEqual([code, message.checks[0]?.reason], [reason ? 95 : 0, reason], log);
      });

  test('a name that only the second name server knows, while the first does not answer', async () => {
    await using sandbox = await Sandbox.make({ families: 'ipv4' });
    await listen(sandbox, 'node', { host: '0.0.0.0', tcp: [5432], manner: 'silent' });
    await serveNames(sandbox, { host: gatewayAddress.ipv4, address: gatewayAddress.ipv4 });
    const servers = [outsideAddress.ipv4, gatewayAddress.ipv4];
    const proof = await reach(sandbox, 'db.example', '12s', servers);
    assert.equal(proof.code, 0, proof.log);
  });

  // some name servers answer with 2 (SERVFAIL) or 3 (NXDOMAIN) if a name has no IPv6 address
  for (const codeForOthers of [2, 3]) {
    test(`a name whose IPv6 address is refused with code ${codeForOthers}, in upper case`, async () => {
      await using sandbox = await Sandbox.make();
      await listen(sandbox, 'node', { host: '0.0.0.0', tcp: [5432], manner: 'silent' });
      await serveNames(sandbox, { host: gatewayAddress.ipv4, address: gatewayAddress.ipv4, codeForOthers });
      const proof = await reach(sandbox, 'DB.example', '20s', [gatewayAddress.ipv4]);
      assert.equal(proof.code, 0, proof.log);
    });
  }
});
