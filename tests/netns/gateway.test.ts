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

for (const [what, shape, lines, reason] of [
  ['nothing but lo', { gateway: 'none' }, [], 'address-missing'],
  [
    'a default route that discards, where none is required',
    { defaultRoute: false },
    ['route add blackhole 0.0.0.0/0', 'route add blackhole ::/0'],
    'no-default-route',
  ],
] as const)
  test(`${what}: fails`, async () => {
    await using sandbox = await Sandbox.make(shape);
    await sandbox.ip('pod', ...lines);
    const proof = await proveGateway(sandbox);
    assert.equal(proof.code, 95, proof.log);
    assert.deepEqual(reasons(proof), [reason, reason]);
  });

/** Replaces the default route with two routes, each for half of all addresses. */
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

const noGateway = /saw a default route by eth0 without a gateway at the link layer\. Note: nothing was asked/;

test('an IPv6 gateway of an IPv4 route: passes with a note', async () => {
  await using sandbox = await Sandbox.make({ families: 'ipv4', defaultRoute: false });
  await sandbox.exec('pod', 'ip', '-4 route add default via inet6 fe80::1 dev eth0'.split(' '));
  const { code, log } = await proveGateway(sandbox);
  assert.equal(code, 0, log);
  assert.match(log, noGateway);
});

test('a device without neighbours: passes with a note', async () => {
  await using sandbox = await Sandbox.make({ families: 'ipv4' });
  await sandbox.ip('pod', 'link set eth0 arp off');
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
