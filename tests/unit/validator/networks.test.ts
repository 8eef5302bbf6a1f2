import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeInterfaces, unconfirmed } from '../../../validator/checks/interfaces.ts';
import { readNetworkStatus, readNetworks } from '../../../validator/networks.ts';
import type { Device } from '../../../validator/pod.ts';
import { type Address, parseAddress } from '../../../validator/shared/addresses.ts';

const addresses = (...texts: string[]): Address[] => texts.flatMap((text) => parseAddress(text) ?? []);

test('both forms of the annotation name the same networks', () => {
  const expected = [
    { name: 'apps/lan', usualInterface: 'net1' },
    { name: 'other/wan', interface: 'ext0', usualInterface: 'net2' },
    { name: 'apps/lan', usualInterface: 'net3' },
  ];
  assert.deepEqual(readNetworks('lan, other/wan@ext0,/lan@', 'apps'), expected);
  const json =
    '[{"name":"lan"},{"name":"wan","namespace":"other","interfaceRequest":"ext0"},{"name":"lan","namespace":"","interface":null}]';
  assert.deepEqual(readNetworks(json, 'apps'), expected);
});

test('an annotation that Multus cannot read differs from an empty one', () => {
  for (const text of ['', ' ', '[]']) assert.deepEqual(readNetworks(text, 'apps'), []);
  const unreadable = [
    ...['a,', ',', 'a,,b', 'a@b@c', 'a/b/c', 'A', '-a', 'a b', 'net/', '@x', `a@${'x'.repeat(16)}`],
    ...['{', '[', '{}', '{"name":"a"}', '["a"]', '[null]', '[[]]', '"a"', '[{"name":1}]', '[{}]'],
    ...['[{"name":"net/a"}]', '[{"name":"a","interface":7}]', '[{"name":"a","namespace":"A B"}]'],
  ];
  for (const text of [...unreadable, '[{"name":"a"}]x'])
    assert.equal(readNetworks(text, 'apps'), undefined, text);
  const many = (count: number): string => Array(count).fill('a').join();
  assert.equal(readNetworks(many(100), 'apps')?.length, 100);
  for (const count of [101, 50_000]) assert.equal(readNetworks(many(count), 'apps'), undefined, 'too many');
});

const status = JSON.stringify([
  { name: 'cbr0', interface: 'eth0', ips: ['10.9.0.2', 'fd09::2'], default: true, dns: {} },
  { name: 'apps/lan', interface: 'net1', ips: ['172.16.0.5'], mac: '02:00:00:00:00:01', dns: {} },
]);

test('network-status is valid only with an address of this pod', () => {
  assert.equal(readNetworkStatus(status, addresses('10.9.0.2'), [])?.length, 2);
  assert.equal(readNetworkStatus(status, addresses('fd09:0::2'), [])?.length, 2);
  assert.equal(readNetworkStatus(status, addresses('10.9.0.3'), []), undefined, 'of the previous sandbox');
  assert.equal(readNetworkStatus(status, [], []), undefined);
  for (const text of ['', '[', 'null', '[]', '[null]', '[{"name":"lan","interface":"net1"}]'])
    assert.equal(readNetworkStatus(text, addresses('10.9.0.2'), []), undefined, text);
});

const device = (name: string, up: boolean, ...ips: string[]): Device => ({
  name,
  up,
  neighbours: true,
  addresses: addresses('fe80::1', ...ips),
  mac: '02:00:00:00:00:01',
});
interface Status {
  reason?: string;
  note?: string;
  confirmed: boolean;
}
const judge = (text: string, devices: Device[], known?: string): Status => {
  const results = judgeInterfaces(
    readNetworks(text, 'apps') ?? [],
    known === undefined ? undefined : readNetworkStatus(known, addresses('10.9.0.2'), devices),
    devices,
  );
  const reason = results.flatMap((it) => (it.passed ? [] : it.reason))[0];
  const notes = results.flatMap((it) => (it.passed && it.note) || []);
  const note = notes.filter((it) => it !== unconfirmed).join('; ');
  return {
    ...(reason && { reason }),
    ...(note && { note }),
    confirmed: !notes.includes(unconfirmed),
  };
};

test('without network-status, a pass of an interface without an address is preliminary', () => {
  assert.deepEqual(judge('lan', [device('net1', true, '172.16.0.5')]), { confirmed: false });
  assert.deepEqual(judge('lan', [device('net1', true)]), { confirmed: false });
  const results = (...ips: string[]): (true | undefined)[] =>
    judgeInterfaces(readNetworks('lan', 'apps') ?? [], undefined, [device('net1', true, ...ips)]).map((it) =>
      it.passed ? it.preliminary : undefined,
    );
  assert.deepEqual([results(), results('172.16.0.5')], [[true], [undefined]]);
  assert.equal(judge('lan', []).reason, 'interface-missing');
  assert.equal(judge('lan', [device('net1', false)]).reason, 'interface-down');
});

test('an interface without the requested address fails, unless network-status says otherwise', () => {
  const asked = '[{"name":"lan","ips":["172.16.0.5/24"]}]';
  const none = '[{"name":"lan","ips":[]}]';
  assert.equal(judge(asked, [device('net1', true)]).reason, 'interface-without-address');
  assert.equal(judge(none, [device('net1', true)]).reason, undefined);
  const bare = JSON.stringify([JSON.parse(status)[0], { name: 'apps/lan', interface: 'net1' }]);
  assert.equal(judge(asked, [device('net1', true)], bare).reason, undefined);
  assert.equal(judge(asked, [], listing()).reason, 'interface-missing');
});

test('an interface that network-status lists has to be up', () => {
  assert.equal(judge('lan', [device('net1', false, '172.16.0.5')], status).reason, 'interface-down');
});

test('network-status names the interface if the pod does not', () => {
  const moved = status.replace('net1', 'net2');
  assert.deepEqual(judge('lan', [device('net2', true, '172.16.0.5')], moved), { confirmed: true });
});

test('a network requested twice has two interfaces', () => {
  const twice = JSON.stringify([
    ...JSON.parse(status),
    { name: 'apps/lan', interface: 'net2', ips: ['172.16.0.6'] },
  ]);
  const devices = [device('net1', true, '172.16.0.5'), device('net2', true, '172.16.0.6')];
  assert.deepEqual(judge('lan,lan', devices, twice), { confirmed: true });
});

/** A network-status of this sandbox, in which Multus lists the cluster's own network and the given entries. */
const listing = (...entries: object[]): string => JSON.stringify([JSON.parse(status)[0], ...entries]);
const notListed = 'network-status of this sandbox does not list apps/lan';
const notCompared = `${notListed}, so addresses were not compared`;
const toldOfNone = `${notListed}: its plugin reported no interface`;

test('a network that network-status does not list is evaluated by its interface', () => {
  const there = [device('net1', true, '172.16.0.5')];
  assert.deepEqual(judge('lan', there, listing()), { note: notCompared, confirmed: true });
  assert.deepEqual(judge('lan', [device('net1', true)], listing()), { note: notCompared, confirmed: true });
  assert.equal(judge('lan', [device('net1', false)], listing()).reason, 'interface-down');
  const named = [device('ext0', false), device('net1', true, '172.16.0.5')];
  assert.equal(
    judge('lan@ext0', named, listing()).reason,
    'interface-down',
    'the interface that was requested',
  );
  const second = [device('net2', false)];
  assert.equal(judge('wan,lan', second, listing()).reason, 'interface-down', 'by its place in the list');
});

test('the interface of another network does not count for an unlisted network', () => {
  const anothers = listing({ name: 'apps/wan', interface: 'net1', ips: ['172.16.0.5'] });
  const devices = [device('net1', true, '172.16.0.5')];
  assert.deepEqual(judge('lan', devices, anothers), { note: toldOfNone, confirmed: true });
  assert.deepEqual(judge('lan,wan', devices, anothers), { note: toldOfNone, confirmed: true });
});

test('a status with another link-layer address of the first interface is of another sandbox', () => {
  const [own] = JSON.parse(status);
  const statusWith = (mac: string): string => JSON.stringify([{ ...own, mac }]);
  const devices = [device('eth0', true, '10.9.0.2')];
  assert.equal(judge('lan', devices, statusWith('02:00:00:00:00:0A')).reason, 'interface-missing');
  assert.deepEqual(judge('lan', devices, statusWith('02:00:00:00:00:01')), {
    note: toldOfNone,
    confirmed: true,
  });
  for (const mac of ['', '00:00:00:00:00:00']) {
    const without = devices.map((it) => ({ ...it, mac }));
    assert.equal(
      judge('lan', without, statusWith('02:00:00:00:00:0A')).reason,
      undefined,
      `a device with "${mac}"`,
    );
  }
  assert.deepEqual(judge('lan', [], statusWith('02:00:00:00:00:0A')), { note: toldOfNone, confirmed: true });
});

test("an older Multus names the plugin's own configuration", () => {
  const older = status.replace('apps/lan', 'macvlan-of-lan');
  assert.deepEqual(judge('lan', [device('net1', true, '172.16.0.5')], older), { confirmed: true });
});

test("without addresses of the cluster's network, a link-layer address identifies the status", () => {
  const [own] = JSON.parse(status);
  const lan = { name: 'apps/lan', interface: 'net1', mac: '02:00:00:00:00:01' };
  const bare = JSON.stringify([{ ...own, ips: undefined }, lan]);
  assert.deepEqual(judge('lan', [device('net1', true)], bare), { confirmed: true });
  assert.deepEqual(judge('lan', [device('net1', true)], bare.replace('00:01', '00:0A')), {
    confirmed: false,
  });
  const stale = JSON.stringify([{ ...own, ips: ['10.9.0.9'] }, lan]);
  assert.equal(judge('lan', [device('net1', true)], stale).confirmed, false, 'a reported address decides');
});

test('a plugin without an interface passes, but only with the status of this sandbox', () => {
  const own = JSON.parse(status)[0];
  const vhost = JSON.stringify([own, { name: 'apps/lan', 'device-info': { type: 'vhost-user' } }]);
  assert.deepEqual(judge('lan', [], vhost), { confirmed: true });
  const dpdk = JSON.stringify([own, { name: 'lan', interface: 'net1', 'device-info': { type: 'pci' } }]);
  assert.deepEqual(judge('lan', [], dpdk), { confirmed: true });
  const stale = dpdk.replace('10.9.0.2', '10.9.0.9').replace('fd09::2', 'fd09::9');
  assert.equal(judge('lan', [], stale).reason, 'interface-missing');
});

test('a network with addresses must have its interface, even if network-status does not name it', () => {
  const nameless = listing({ name: 'apps/lan', ips: ['172.16.0.5'] });
  for (const [asked, name] of [
    ['lan@ext0', 'ext0'],
    ['lan', 'net1'],
  ] as const) {
    assert.deepEqual(judge(asked, [device(name, true, '172.16.0.5')], nameless), { confirmed: true });
    assert.equal(judge(asked, [device(name, true, '172.16.0.6')], nameless).reason, 'address-differs');
    assert.equal(judge(asked, [], nameless).reason, 'interface-missing');
  }
  assert.deepEqual(judge('lan@ext0', [], listing({ name: 'apps/lan' })), { confirmed: true }, 'no addresses');
});

test('in a pod that requests devices, the kernel need not show an interface of network-status', () => {
  const asked = readNetworks('lan', 'apps') ?? [];
  const saidOf = (text: string, devices: Device[] = []): string | undefined => {
    const known = readNetworkStatus(text, addresses('10.9.0.2'), devices);
    const [finding] = judgeInterfaces(asked, known, devices, true);
    return finding?.passed ? finding.note : finding?.reason;
  };
  assert.equal(saidOf(status), 'net1 is missing, or driven in user space');
  assert.equal(saidOf(status, [device('net1', true, '172.16.0.6')]), 'address-differs');
  assert.equal(saidOf(''), 'interface-missing', 'without network-status, it is not known that Multus ran');
});
