import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAddress, isLinkLocal, parseAddress } from '../../../validator/shared/addresses.ts';
import { parseTarget } from '../../../validator/shared/targets.ts';

const v4 = { family: 'IPv4', host: '192.0.2.2', port: 1404 } as const;
const v6 = { family: 'IPv6', host: '2001:db8::2', port: 1404 } as const;

test('targets are addresses with a port', () => {
  assert.deepEqual(parseTarget('192.0.2.2:1404'), v4);
  assert.deepEqual(parseTarget('[2001:db8::2]:1404'), v6);
  for (const text of [
    '192.0.2.2',
    '192.0.2.2:0',
    '192.0.2.2:65536',
    '2001:db8::2:1404',
    '[192.0.2.2]:1404',
    '192.0.2.02:1404',
    'host:80',
    '',
  ])
    assert.equal(parseTarget(text), undefined, text);
});

const same: [text: string, canonical: string][] = [
  ['10.1.0.2', '10.1.0.2'],
  ['0.0.0.0', '0.0.0.0'],
  ['::', '::'],
  ['::1', '::1'],
  ['::6', '::6'],
  ['fd09::', 'fd09::'],
  ['2001:0db8:0000:0000:0000:0000:0000:0002', '2001:db8::2'],
  ['2001:DB8::2', '2001:db8::2'],
  ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
  ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ['fe80::fc:ff:fe00:1', 'fe80::fc:ff:fe00:1'],
  ['64:ff9b::192.0.2.33', '64:ff9b::c000:221'],
  ['::ffff:10.1.0.2', '10.1.0.2'],
];

for (const [text, canonical] of same)
  test(`${text} is ${canonical}`, () => {
    const address = parseAddress(text);
    assert.ok(address);
    assert.equal(formatAddress(address), canonical);
  });

test('invalid addresses', () => {
  for (const text of [
    '',
    'pod',
    '10.1.0',
    '10.1.0.256',
    '010.1.0.2',
    '1.2.3.4.5',
    ':::',
    '1::2::3',
    '1:2:3:4:5:6:7',
    '12345::',
    '::1%eth0',
    '[::1]',
    '1:2:3:4:5:6:7:8::',
  ])
    assert.equal(parseAddress(text), undefined, text);
});

test('link-local addresses are known in both families', () => {
  const linkLocal = ['169.254.1.1', 'fe80::1', 'febf::1', '10.0.0.1', 'fec0::1'].map((text) => {
    const address = parseAddress(text);
    return address && isLinkLocal(address);
  });
  assert.deepEqual(linkLocal, [true, true, true, false, false]);
});
