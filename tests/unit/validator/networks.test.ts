import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Address, parseAddress } from '../../../validator/addresses.ts';
import { mostTelling } from '../../../validator/checks/interfaces.ts';
import { judgeInterfaces } from '../../../validator/checks/judge-interfaces.ts';
import type { Device } from '../../../validator/devices.ts';
import { isUp } from '../../../validator/devices.ts';
import { readNetworkStatus } from '../../../validator/network-status.ts';
import { readNetworks } from '../../../validator/networks.ts';

const addresses = (...texts: string[]): Address[] => texts.flatMap((text) => parseAddress(text) ?? []);

test('both forms of the annotation name the same networks', () => {
  const expected = [
    { name: 'apps/lan', usualInterface: 'net1' },
    { name: 'other/wan', interface: 'ext0', usualInterface: 'net2' },
    { name: 'apps/lan', usualInterface: 'net3' },
  ];
  assert.deepEqual(readNetworks('lan, other/wan@ext0,lan', 'apps'), expected);
  const json =
    '[{"name":"lan"},{"name":"wan","namespace":"other","interface":"ext0"},{"name":"lan","namespace":""}]';
  assert.deepEqual(readNetworks(json, 'apps'), expected);
});

test('an annotation that Multus cannot read is told apart from an empty one', () => {
  assert.deepEqual(readNetworks('', 'apps'), []);
  assert.deepEqual(readNetworks('[]', 'apps'), []);
  for (const text of ['[{', '{"name":"lan"}', '["lan"]', 'a,,b', 'a@b@c', 'a b'])
    assert.equal(readNetworks(text, 'apps'), undefined, text);
});

const status = JSON.stringify([
  { name: 'cbr0', interface: 'eth0', ips: ['10.9.0.2', 'fd09::2'], default: true, dns: {} },
  { name: 'apps/lan', interface: 'net1', ips: ['172.16.0.5'], mac: '02:00:00:00:00:01', dns: {} },
]);

test('network-status is believed only where it has an address of this pod', () => {
  assert.equal(readNetworkStatus(status, addresses('10.9.0.2'), [])?.length, 2);
  assert.equal(readNetworkStatus(status, addresses('fd09:0::2'), [])?.length, 2);
  assert.equal(readNetworkStatus(status, addresses('10.9.0.3'), []), undefined, 'of the sandbox before');
  assert.equal(readNetworkStatus(status, [], []), undefined);
  for (const text of ['', '[', 'null', '[]', '[null]', '[{"name":"lan","interface":"net1"}]'])
    assert.equal(readNetworkStatus(text, addresses('10.9.0.2'), []), undefined, text);
});

const device = (name: string, up: boolean, ...ips: string[]): Device => ({
  name,
  up,
  addresses: addresses('fe80::1', ...ips),
  mac: '02:00:00:00:00:01',
});
const judge = (text: string, devices: Device[], known?: string): { reason?: string; confirmed: boolean } => {
  const judged = judgeInterfaces(
    readNetworks(text, 'apps') ?? [],
    known === undefined ? undefined : readNetworkStatus(known, addresses('10.9.0.2'), devices),
    devices,
  );
  const reason = mostTelling(judged)?.reason;
  return { ...(reason && { reason }), confirmed: judged.every(({ confirmed }) => confirmed) };
};

test('an interface is missing, down, without its address, or right', () => {
  assert.deepEqual(judge('lan', [], status), { reason: 'interface-missing', confirmed: true });
  assert.deepEqual(judge('lan', [device('net1', false)], status), {
    reason: 'interface-down',
    confirmed: true,
  });
  assert.deepEqual(judge('lan', [device('net1', true, '172.16.0.6')], status), {
    reason: 'address-differs',
    confirmed: true,
  });
  assert.deepEqual(judge('lan', [device('net1', true, '172.16.0.5')], status), { confirmed: true });
});

test('while network-status is not known, an interface needs an address of its own', () => {
  assert.deepEqual(judge('lan', [device('net1', true, '172.16.0.5')]), { confirmed: false });
  assert.deepEqual(judge('lan', [device('net1', true)]), {
    reason: 'interface-without-address',
    confirmed: false,
  });
});

test('a missing interface tells more than a wrong address', () => {
  const devices = [device('net1', true, '172.16.0.6')];
  assert.equal(judge('lan,lan', devices, status).reason, 'interface-missing');
});

test('network-status names the interface where the pod does not', () => {
  const moved = status.replace('net1', 'net2');
  assert.deepEqual(judge('lan', [device('net2', true, '172.16.0.5')], moved), { confirmed: true });
});

test('one network twice is two interfaces', () => {
  const twice = JSON.stringify([
    ...JSON.parse(status),
    { name: 'apps/lan', interface: 'net2', ips: ['172.16.0.6'] },
  ]);
  const devices = [device('net1', true, '172.16.0.5'), device('net2', true, '172.16.0.6')];
  assert.deepEqual(judge('lan,lan', devices, twice), { confirmed: true });
});

test('a network of the second layer has no address to compare', () => {
  const bare = JSON.stringify([JSON.parse(status)[0], { name: 'apps/lan', interface: 'net1' }]);
  assert.deepEqual(judge('lan', [device('net1', true)], bare), { confirmed: true });
});

test('a network that a believed network-status leaves out was not made, whoever has its interface', () => {
  const devices = [device('net1', true, '172.16.0.5')];
  const alone = JSON.stringify([JSON.parse(status)[0]]);
  assert.deepEqual(judge('lan', devices, alone), { reason: 'interface-missing', confirmed: true });
  assert.deepEqual(judge('lan@net1', devices, alone), { reason: 'interface-missing', confirmed: true });
  const anothers = status.replace('apps/lan', 'apps/wan');
  assert.deepEqual(judge('lan', devices, anothers), { reason: 'interface-missing', confirmed: true });
});

test("an older Multus names the plugin's own configuration", () => {
  const older = status.replace('apps/lan', 'macvlan-of-lan');
  assert.deepEqual(judge('lan', [device('net1', true, '172.16.0.5')], older), { confirmed: true });
});

test('where the own network tells no address, a link-layer address shows whose status it is', () => {
  const [own] = JSON.parse(status);
  const lan = { name: 'apps/lan', interface: 'net1', mac: '02:00:00:00:00:01' };
  const bare = JSON.stringify([{ ...own, ips: undefined }, lan]);
  assert.deepEqual(judge('lan', [device('net1', true)], bare), { confirmed: true });
  assert.deepEqual(judge('lan', [device('net1', true)], bare.replace('00:01', '00:0A')), {
    reason: 'interface-without-address',
    confirmed: false,
  });
  const stale = JSON.stringify([{ ...own, ips: ['10.9.0.9'] }, lan]);
  assert.equal(
    judge('lan', [device('net1', true)], stale).confirmed,
    false,
    'an address that is told decides',
  );
});

test('a plugin that makes no interface is taken at its word, for this sandbox only', () => {
  const own = JSON.parse(status)[0];
  const vhost = JSON.stringify([own, { name: 'apps/lan', 'device-info': { type: 'vhost-user' } }]);
  assert.deepEqual(judge('lan', [], vhost), { confirmed: true });
  const dpdk = JSON.stringify([own, { name: 'lan', interface: 'net1', 'device-info': { type: 'pci' } }]);
  assert.deepEqual(judge('lan', [], dpdk), { confirmed: true });
  const stale = dpdk.replace('10.9.0.2', '10.9.0.9').replace('fd09::2', 'fd09::9');
  assert.equal(judge('lan', [], stale).reason, 'interface-missing');
});

test('only what says it is down is down', () => {
  assert.equal(isUp('0x1003\n', 'unknown\n'), true);
  assert.equal(isUp('0x1003\n', 'up\n'), true);
  assert.equal(isUp('0x1003\n', 'lowerlayerdown\n'), false);
  assert.equal(isUp('0x1002\n', 'up\n'), false);
  assert.equal(isUp('', ''), false);
});
