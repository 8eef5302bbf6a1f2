import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { configurationOf } from '../support/configurations.ts';
import { gatewayAddress, podAddress, withPrefix } from './harness/addresses.ts';
import { requireMachine } from './harness/machine.ts';
import { type Proof, startProof } from './harness/proof.ts';
import { Sandbox } from './harness/sandbox.ts';
import type { Shape } from './harness/shape.ts';
import type { Step } from './table/plan.ts';
import { silenceGateway } from './table/steps.ts';

/** The message of the check `gateway` if the table has no row. */
before(requireMachine);

/** Proves the gateway and nothing else. */
function proveGateway(sandbox: Sandbox, timeout = '1s'): Promise<Proof> {
  const check = { gateway: { timeout } };
  const configuration = configurationOf({ profiles: [{ name: 'gateway-only', proof: { checks: [check] } }] });
  return startProof(sandbox, { profile: 'gateway-only' }, { configuration }).ended;
}

const reasons = ({ message }: Proof): (string | undefined)[] => message.checks.map(({ reason }) => reason);

describe('a pod without a network: no gateway does not pass', { concurrency: 3 }, () => {
  const networks: [what: string, shape: Partial<Shape>, step: Step, reason?: string][] = [
    ['nothing but lo', { gateway: 'none' }, () => {}],
    [
      'an interface that is down',
      {},
      async (sandbox) => void (await sandbox.ip('pod', 'link set eth0 down')),
    ],
    [
      'a default route that discards, where none is required',
      { defaultRoute: false },
      async (sandbox) =>
        void (await sandbox.ip('pod', 'route add blackhole 0.0.0.0/0', 'route add blackhole ::/0')),
      'no-default-route',
    ],
  ];
  for (const [what, shape, step, reason = 'address-missing'] of networks)
    test(what, async () => {
      await using sandbox = await Sandbox.make(shape);
      await step(sandbox);
      const proof = await proveGateway(sandbox);
      assert.equal(proof.code, 95, proof.log);
      assert.deepEqual(reasons(proof), [reason, reason]);
    });

  test('no default route with the right address: passes', async () => {
    await using sandbox = await Sandbox.make({ defaultRoute: false });
    const proof = await proveGateway(sandbox);
    assert.equal(proof.code, 0, proof.log);
    assert.match(proof.log, /saw no default route\. Note: nothing was asked/);
  });
});

/** The default route is two routes for half of all addresses each. */
const splitDefault: Step = async (sandbox) => {
  await sandbox.ip(
    'pod',
    'route del default',
    `route add 0.0.0.0/1 via ${gatewayAddress.ipv4} dev eth0`,
    `route add 128.0.0.0/1 via ${gatewayAddress.ipv4} dev eth0`,
  );
};

test('two halves of a default route: their gateway is asked', async () => {
  await using right = await Sandbox.make({ families: 'ipv4' });
  await using silent = await Sandbox.make({ families: 'ipv4' });
  await Promise.all([right, silent].map((sandbox) => splitDefault(sandbox)));
  await silenceGateway(silent);
  const [answered, unanswered] = await Promise.all([right, silent].map((sandbox) => proveGateway(sandbox)));
  assert.equal(answered?.code, 0, answered?.log);
  assert.deepEqual(unanswered && reasons(unanswered), ['gateway-silent'], unanswered?.log);
});

test('an IPv6 gateway of an IPv4 route: passes with a note', async () => {
  await using sandbox = await Sandbox.make({ families: 'ipv4', defaultRoute: false });
  await sandbox.exec('pod', 'ip', '-4 route add default via inet6 fe80::1 dev eth0'.split(' '));
  const { code, log } = await proveGateway(sandbox);
  assert.equal(code, 0, log);
  assert.match(log, /saw a default route by eth0 with an IPv6 gateway\. Note: nothing was asked/);
});

test('a device without neighbours: passes with a note', async () => {
  await using sandbox = await Sandbox.make({ families: 'ipv4' });
  await sandbox.ip('pod', 'link set eth0 arp off');
  const { code, log } = await proveGateway(sandbox);
  assert.equal(code, 0, log);
  assert.match(log, /saw a default route by eth0, which has no neighbours\. Note: nothing was asked/);
});

/** During duplicate address detection, the kernel sends nothing from a new address. */
const giveAddressWithDetection: Step = async (sandbox) => {
  const address = withPrefix('ipv6', podAddress.ipv6, 'subnet');
  const detect =
    'echo 1 | tee /proc/sys/net/ipv6/conf/eth0/accept_dad /proc/sys/net/ipv6/conf/eth0/dad_transmits';
  await sandbox.exec('pod', 'sh', ['-c', detect]);
  await sandbox.exec('pod', 'ip', ['-6', 'addr', 'flush', 'dev', 'eth0']);
  await sandbox.ip(
    'pod',
    `addr add ${address} dev eth0`,
    `route replace default via ${gatewayAddress.ipv6} dev eth0`,
  );
};

test('duplicate address detection in progress: proved when it ends', async () => {
  await using sandbox = await Sandbox.make({ families: 'ipv6' });
  await giveAddressWithDetection(sandbox);
  const proof = await proveGateway(sandbox, '3s');
  assert.equal(proof.code, 0, proof.log);
});
