import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { configurationOf } from '../support/configurations.ts';
import { gatewayAddress, podAddress } from './harness/addresses.ts';
import { type Proof, startProof } from './harness/proof.ts';
import { Sandbox } from './harness/sandbox.ts';
import type { Step } from './table/plan.ts';
import { silenceGateway } from './table/steps.ts';

/** Runs a proof with the given checks. @param step is applied once the proof runs */
async function prove(sandbox: Sandbox, checks: object[], step: Step = () => {}): Promise<Proof> {
  const configuration = configurationOf({ profiles: [{ name: 'own', proof: { checks } }] });
  const running = startProof(sandbox, { profile: 'own' }, { configuration });
  await running.started;
  await step(sandbox);
  return running.ended;
}
const proveGateway = (sandbox: Sandbox): Promise<Proof> => prove(sandbox, [{ gateway: { timeout: '1s' } }]);

const reasons = ({ message }: Pick<Proof, 'message'>): (string | undefined)[] =>
  message.checks.map(({ reason }) => reason);

test('a default route that discards packets fails, even if the profile requires no default route', async () => {
  await using sandbox = await Sandbox.make({ defaultRoute: false });
  await sandbox.ip('pod', 'route add blackhole 0.0.0.0/0', 'route add blackhole ::/0');
  assert.deepEqual(reasons(await proveGateway(sandbox)), ['no-default-route', 'no-default-route']);
});

test('two routes that together cover all addresses: the check asks their gateway', async () => {
  await using sandbox = await Sandbox.make({ families: 'ipv4', defaultRoute: false });
  const halves = ['0.0.0.0/1', '128.0.0.0/1'];
  await sandbox.ip('pod', ...halves.map((to) => `route add ${to} via ${gatewayAddress.ipv4} dev eth0`));
  await silenceGateway(sandbox);
  assert.deepEqual(reasons(await proveGateway(sandbox)), ['gateway-silent']);
});

const noGateway = /saw a default route by eth0 without a gateway at the link layer\. Note: nothing was asked/;

for (const [what, shape, line] of [
  [
    'an IPv6 gateway of an IPv4 route',
    { defaultRoute: false },
    '-4 route add default via inet6 fe80::1 dev eth0',
  ],
  ['a device without neighbours', {}, 'link set eth0 arp off'],
] as const)
  test(`${what}: passes with a note`, async () => {
    await using sandbox = await Sandbox.make({ families: 'ipv4', ...shape });
    await sandbox.exec('pod', 'ip', line.split(' '));
    const { code, log } = await proveGateway(sandbox);
    assert.equal(code, 0, log);
    assert.match(log, noGateway);
  });

/** Removes the addresses of one end of the link, and makes new addresses tentative for two seconds. */
const prepareDetection = async (sandbox: Sandbox, device: 'eth0' | 'pod0'): Promise<void> => {
  const settings = Object.entries({ accept_dad: 1, dad_transmits: 2, router_solicitation_delay: 0 }).map(
    ([name, value]) => `echo ${value} > /proc/sys/net/ipv6/conf/${device}/${name}`,
  );
  const lines = [...settings, `ip -6 addr flush dev ${device}`];
  await sandbox.exec(device === 'eth0' ? 'pod' : 'node', 'sh', ['-c', lines.join('; ')]);
};

/** Gives the pod a new address, from which the kernel sends nothing during the detection. */
const ofPod: Step = async (sandbox) => {
  const route = `route replace default via ${gatewayAddress.ipv6} dev eth0`;
  await sandbox.ip('pod', `addr add ${podAddress.ipv6}/64 dev eth0`, route);
};
const ofNode: Step = async (sandbox) => {
  await sandbox.ip('node', `addr add ${gatewayAddress.ipv6}/64 dev pod0`);
};

describe('duplicate address detection that ends after the time-out of the check', { concurrency: 5 }, () => {
  const timeout = '1s';
  const link = { gateway: { required: true, timeout: '8s' } };
  const prefer = { roundTrip: { mode: 'prefer', timeout } };
  const states: [what: string, step: Step, checks: object[]][] = [
    ["of the pod's address: the gateway is asked then", ofPod, [link]],
    ["of the pod's address: an answer is awaited", ofPod, [prefer]],
    ["of the pod's address, where an answer is required", ofPod, [{ roundTrip: { timeout } }]],
    ["of the node's address: the node is asked again", ofNode, [link, prefer]],
  ];
  for (const [what, step, checks] of states)
    test(what, async () => {
      await using sandbox = await Sandbox.make({ families: 'ipv6' });
      await prepareDetection(sandbox, step === ofPod ? 'eth0' : 'pod0');
      const { code, log } = await prove(sandbox, checks, step);
      assert.equal(code, 0, log);
      assert.doesNotMatch(log, /verdict: .* with a note/);
    });

  test('another host has the address: the checks say so, whether an answer is required or not', async () => {
    await using sandbox = await Sandbox.make({ families: 'ipv6' });
    await sandbox.ip('node', `addr add ${podAddress.ipv6}/64 dev pod0 nodad`);
    await prepareDetection(sandbox, 'eth0');
    const { code, message, log } = await prove(sandbox, [link, prefer], ofPod);
    assert.equal(code, 95, log);
    assert.deepEqual(reasons({ message }), ['address-unusable', 'address-unusable'], log);
    assert.match(
      log,
      /roundTrip IPv6 failed \(address-unusable\): .* saw EADDRNOTAVAIL on sending to .*dadfailed/,
    );
  });
});
