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
    '[{"name":"lan"},{"name":"wan","namespace":"other","interface":"ext0"},{"name":"lan","namespace":"","interface":null}]';
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

const own = { name: 'cbr0', interface: 'eth0', ips: ['10.9.0.2', 'fd09::2'], default: true, dns: {} };
/** An annotation network-status for this sandbox, with the cluster's default network and the given entries. */
const listing = (...entries: object[]): string => JSON.stringify([own, ...entries]);
const lan = { name: 'apps/lan', interface: 'net1', ips: ['172.16.0.5'], dns: {} };
const status = listing(lan);

test('network-status is valid only with an address of this pod', () => {
  assert.equal(readNetworkStatus(status, addresses('10.9.0.2'), [])?.length, 2);
  assert.equal(readNetworkStatus(status, addresses('fd09:0::2'), [])?.length, 2);
  assert.equal(readNetworkStatus(status, addresses('10.9.0.3'), []), undefined, 'of the previous sandbox');
  assert.equal(readNetworkStatus(status, [], []), undefined);
  for (const text of ['', '[', 'null', '[]', '[null]', '[{"name":"lan","ips":["10.9.0.2"]}]'])
    assert.equal(readNetworkStatus(text, addresses('10.9.0.2'), []), undefined, text);
});

const device = (name: string, up: boolean, ...ips: string[]): Device => ({
  name,
  up,
  neighbours: true,
  addresses: addresses('fe80::1', ...ips),
  mac: '02:00:00:00:00:01',
});
const good = device('net1', true, '172.16.0.5');
const none = device('net1', true);
const down = device('net1', false, '172.16.0.5');

/** Judges the interfaces. @returns the first failure's reason; if none failed, the notes or `passed` */
function judge(text: string, devices: Device[], known = '', inUserSpace = false): string {
  const found = judgeInterfaces(
    readNetworks(text, 'apps') ?? [],
    readNetworkStatus(known, addresses('10.9.0.2'), devices),
    devices,
    inUserSpace,
  );
  const reason = found.flatMap((it) => (it.passed ? [] : it.reason))[0];
  return reason ?? (found.flatMap((it) => (it.passed && it.note) || []).join('; ') || 'passed');
}

const notListed = 'network-status of this sandbox does not list apps/lan';
const notCompared = `${notListed}, so addresses were not compared`;
const toldOfNone = `${notListed}: its plugin reported no interface`;
const inUserSpace = 'net1 is missing, or driven in user space';
const wan = { name: 'apps/wan', interface: 'net1', ips: ['172.16.0.5'] };
const nameless = listing({ name: 'apps/lan', ips: ['172.16.0.5'] });
const twice = listing(lan, { ...lan, interface: 'net2', ips: ['172.16.0.6'] });
const second = device('net2', true, '172.16.0.6');

const eth0 = device('eth0', true, '10.9.0.2');
const macOf = (mac: string): string => JSON.stringify([{ ...own, mac }]);

const rows: [what: string, asked: string, devices: Device[], known: string, result: string][] = [
  ['no network-status', 'lan', [good], '', unconfirmed],
  ['no network-status, no interface', 'lan', [], '', 'interface-missing'],
  ['no network-status, an interface that is down', 'lan', [device('net1', false)], '', 'interface-down'],
  ['listed', 'lan', [good], status, 'passed'],
  ['listed, the interface is down', 'lan', [down], status, 'interface-down'],
  ['listed, another address', 'lan', [device('net1', true, '172.16.0.6')], status, 'address-differs'],
  ['listed, no interface', 'lan', [], status, 'interface-missing'],
  [
    'listed by another name than the usual one',
    'lan',
    [second],
    listing({ ...lan, interface: 'net2', ips: [] }),
    'passed',
  ],
  ['requested twice', 'lan,lan', [good, second], twice, 'passed'],
  ['requested twice, one interface', 'lan,lan', [good], twice, 'interface-missing'],
  ['requested twice, exchanged', 'lan@net2,lan@net1', [good, second], twice, 'passed'],
  ['not listed', 'lan', [good], listing(), notCompared],
  ['not listed, no address', 'lan', [none], listing(), notCompared],
  ['not listed, the interface is down', 'lan', [device('net1', false)], listing(), 'interface-down'],
  [
    'not listed, the requested interface is down',
    'lan@ext0',
    [device('ext0', false), good],
    listing(),
    'interface-down',
  ],
  [
    'not listed, down, by its place in the list',
    'wan,lan',
    [device('net2', false)],
    listing(),
    'interface-down',
  ],
  ['not listed, no interface', 'lan', [], listing(), toldOfNone],
  ['not listed, the interface of another network', 'lan', [good], listing(wan), toldOfNone],
  ['not listed, beside the other network', 'lan,wan', [good], listing(wan), toldOfNone],
  ['listed without a name of the interface', 'lan', [good], nameless, 'passed'],
  [
    'the same, with another address',
    'lan',
    [device('net1', true, '172.16.0.6')],
    nameless,
    'address-differs',
  ],
  ['the same, no interface', 'lan@ext0', [], nameless, 'interface-missing'],
  ['the own network once more', 'lan', [], JSON.stringify([{ ...own, name: 'apps/lan' }]), toldOfNone],
  [
    'a status with another link-layer address',
    'lan',
    [eth0],
    macOf('02:00:00:00:00:0A'),
    'interface-missing',
  ],
  ['a status with the same link-layer address', 'lan', [eth0], macOf('02:00:00:00:00:01'), toldOfNone],
  ...['', '00:00:00:00:00:00'].map((mac): [string, string, Device[], string, string] => [
    `a link-layer address beside an interface with "${mac}"`,
    'lan',
    [{ ...eth0, mac }],
    macOf('02:00:00:00:00:0A'),
    toldOfNone,
  ]),
  [
    'listed with a device of the node',
    'lan',
    [],
    listing({ ...lan, 'device-info': { type: 'pci' } }),
    'passed',
  ],
  ['listed without interface and addresses', 'lan@ext0', [], listing({ name: 'apps/lan' }), 'passed'],
];
for (const [what, asked, devices, known, result] of rows)
  test(`a network: ${what}`, () => assert.equal(judge(asked, devices, known), result));

test('without network-status, only an interface without an address is preliminary', () => {
  const results = [none, good].flatMap((it) =>
    judgeInterfaces(readNetworks('lan', 'apps') ?? [], undefined, [it]),
  );
  assert.deepEqual(
    results.map((it) => it.passed && it.preliminary),
    [true, undefined],
  );
});

test('in a pod that requests devices, the kernel need not show an interface of network-status', () => {
  assert.equal(judge('lan', [], status, true), inUserSpace);
  assert.equal(judge('lan', [device('net1', true, '172.16.0.6')], status, true), 'address-differs');
  assert.equal(judge('lan', [], '', true), 'interface-missing', 'it is not known that Multus ran');
});
