import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseIPv6Routes, parseRoutes } from '../../../validator/proc/routes.ts';
import { type Address, parseAddress } from '../../../validator/shared/addresses.ts';
import { formatTarget, parseTarget } from '../../../validator/shared/targets.ts';
import { spareTargets } from '../../../validator/spare-targets.ts';

const own = (...texts: string[]): Address[] => texts.flatMap((text) => parseAddress(text) ?? []);
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
    'host:80',
    '',
  ])
    assert.equal(parseTarget(text), undefined, text);
});

const row = (destination: string, mask: string): string =>
  `eth0\t${destination}\t00000000\t0001\t0\t0\t0\t${mask}\t0\t0\t0\n`;
const spares4 = (routes: string, mine: string[], api?: string): string[] =>
  spareTargets(v4, parseRoutes(routes), own(...mine), api).map(formatTarget);

test("the API server's address with the profile's port is the first spare target", () => {
  const routes = row('0000090A', '00FFFFFF');
  assert.deepEqual(spares4(routes, ['10.9.0.2'], '10.96.0.1'), ['10.96.0.1:1404', '10.9.0.1:1404']);
  assert.deepEqual(spares4(routes, ['10.9.0.2'], 'kubernetes.default'), ['10.9.0.1:1404']);
  assert.deepEqual(spares4(routes, ['10.9.0.2'], 'fd00::1'), ['10.9.0.1:1404']);
});

test("the pod's own addresses are never spare targets", () => {
  assert.deepEqual(spares4(row('0000090A', '00FFFFFF'), ['10.9.0.1']), ['10.9.0.2:1404']);
  assert.deepEqual(spares4(row('0400090A', 'FEFFFFFF'), ['10.9.0.5']), []);
  assert.deepEqual(spares4(row('0400090A', 'FCFFFFFF'), ['10.9.0.5']), ['10.9.0.6:1404']);
});

test("a host route gives its address, unless it is the pod's own", () => {
  assert.deepEqual(spares4(row('0101FEA9', 'FFFFFFFF'), ['10.9.0.1']), ['169.254.1.1:1404']);
  assert.deepEqual(spares4(row('0100090A', 'FFFFFFFF'), ['10.9.0.1']), []);
});

test('IPv6: link-local neighbours come last, with their interface', () => {
  const zeros = '0'.repeat(32);
  const routes = ['fe80', 'fd09'].map(
    (start) => `${start.padEnd(32, '0')} 40 ${zeros} 00 ${zeros} 00000100 00000001 00000000 00000001 eth0\n`,
  );
  const spares = spareTargets(v6, parseIPv6Routes(routes.join('')), own('fd09::1'), undefined);
  assert.deepEqual(spares.map(formatTarget), ['[fd09::2]:1404', '[fe80::1%eth0]:1404']);
});
