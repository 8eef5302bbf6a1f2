import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configurationOf } from '../support/configurations.ts';
import { type Family, familiesOf, gatewayAddress, outsideAddress } from './harness/addresses.ts';
import { listen, serveNames } from './harness/listeners.ts';
import { startProof } from './harness/proof.ts';
import { Sandbox } from './harness/sandbox.ts';

/** Runs a proof with the check `reach`, which no built-in profile uses. */
function reach(sandbox: Sandbox, host: string, timeout = '3s', nameServers?: string[]) {
  const check = { reach: { host, port: 5432, timeout } };
  const configuration = configurationOf({ profiles: [{ name: 'database', proof: { checks: [check] } }] });
  return startProof(sandbox, { profile: 'database' }, { configuration, ...(nameServers && { nameServers }) })
    .ended;
}

describe('reach', { concurrency: 4 }, () => {
  const hosts: [where: string, hosts: Record<Family, string>, code: number, reason?: string][] = [
    ['the node, which listens', gatewayAddress, 0],
    ['an unused address', outsideAddress, 95, 'connect-timed-out'],
  ];
  for (const family of familiesOf('dual')) {
    for (const [where, addresses, code, reason] of hosts) {
      test(`${family}: ${where}`, async () => {
        await using sandbox = await Sandbox.make();
        await listen(sandbox, 'node', { host: '::', tcp: [5432], manner: 'silent' });
        const proof = await reach(sandbox, addresses[family]);
        assert.equal(proof.code, code, proof.log);
        assert.equal(proof.message.checks[0]?.reason, reason);
      });
    }

    test(`${family}: the node, which does not listen`, async () => {
      await using sandbox = await Sandbox.make();
      const { message, log } = await reach(sandbox, gatewayAddress[family]);
      assert.deepEqual([message.code, message.checks[0]?.reason], [95, 'connect-refused'], log);
    });

    test(`${family}: the pod has no route there`, async () => {
      await using sandbox = await Sandbox.make({ defaultRoute: false });
      const { message, log } = await reach(sandbox, outsideAddress[family]);
      assert.deepEqual([message.code, message.checks[0]?.reason], [95, 'unreachable'], log);
    });
  }

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
