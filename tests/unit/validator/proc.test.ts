import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findNeighbour, neighbourAnswers } from '../../../validator/proc/neighbours.ts';
import { defaultRoute, parseIPv6Routes, parseRoutes, type Route } from '../../../validator/proc/routes.ts';
import { parseTcp, queuedBytes, tcpState } from '../../../validator/proc/sockets.ts';
import { formatAddress } from '../../../validator/shared/addresses.ts';

// texts as a kernel wrote them in the network namespace of a pod

const tcp = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:3A99 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 92833 2 000000008c5a337e 100 0 0 10 0
   1: 0100007F:3A99 0200090A:D2F4 01 00000000:00000000 00:00000000 00000000     0        0 93800 2 00000000ad062d05 20 4 30 10 -1
`;
const tcp6 = `  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000000000000000000000000000:3A9E 00000000000000000000000000000000:0000 0A 00000000:00000000 00:00000000 00000000  1337        0 15213 1 0000000000000000 100 0 0 10 0
   1: 0000000000000000FFFF00000100007F:3A99 0000000000000000FFFF00000200090A:D2F4 01 00000000:00000000 00:00000000 00000000  1337        0 15214 1 0000000000000000 20 4 30 10 -1
   2: 00000000000000000000000001000000:3A99 000009FD000000000000000002000000:8B3E 06 00000000:00000000 03:00001770 00000000     0        0 0 3 0000000000000000
`;

test('sockets of /proc/net/tcp and tcp6, including IPv4 of an IPv6 listener', () => {
  const reported = [...parseTcp(tcp), ...parseTcp(tcp6)].map(
    ({ local, localPort, remote, remotePort, state }) =>
      `${formatAddress(local)} ${localPort} ${formatAddress(remote)} ${remotePort} ${state === tcpState.listen}`,
  );
  assert.deepEqual(reported, [
    '0.0.0.0 15001 0.0.0.0 0 true',
    '127.0.0.1 15001 10.9.0.2 54004 false',
    ':: 15006 :: 0 true',
    '127.0.0.1 15001 10.9.0.2 54004 false',
    '::1 15001 fd09::2 35646 false',
  ]);
});

const route = `Iface	Destination	Gateway 	Flags	RefCnt	Use	Metric	Mask		MTU	Window	IRTT
eth0	00000000	0100090A	0003	0	0	100	00000000	0	0	0
net1	00000000	0100100A	0003	0	0	50	00000000	0	0	0
eth0	0000090A	00000000	0001	0	0	0	00FFFFFF	0	0	0
eth0	0101FEA9	00000000	0005	0	0	0	FFFFFFFF	0	0	0
*	0000000A	00000000	0201	0	0	0	000000FF	0	0	0
`;
const route6 = `fd090000000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001     eth0
fe800000000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000002 00000000 00000001     eth0
00000000000000000000000000000000 00 00000000000000000000000000000000 00 fd090000000000000000000000000001 00000400 00000002 00000000 00000003     eth0
00000000000000000000000000000001 80 00000000000000000000000000000000 00 00000000000000000000000000000000 00000000 00000002 00000000 80200001       lo
fd090000000000000000000000000002 80 00000000000000000000000000000000 00 00000000000000000000000000000000 00000000 00000003 00000000 80200001     eth0
ff000000000000000000000000000000 08 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000003 00000000 00000001     eth0
00000000000000000000000000000000 00 00000000000000000000000000000000 00 00000000000000000000000000000000 ffffffff 00000001 00000000 00200200       lo
`;

const line = ({ destination, bits, gateway, device }: Route): string =>
  `${formatAddress(destination)}/${bits} ${gateway ? formatAddress(gateway) : '-'} ${device}`;

test('routes of both families, without local, multicast and reject routes', () => {
  assert.deepEqual(parseRoutes(route).map(line), [
    '0.0.0.0/0 10.9.0.1 eth0',
    '0.0.0.0/0 10.16.0.1 net1',
    '10.9.0.0/24 - eth0',
    '169.254.1.1/32 - eth0',
  ]);
  assert.deepEqual(parseIPv6Routes(route6).map(line), [
    'fd09::/64 - eth0',
    'fe80::/64 - eth0',
    '::/0 fd09::1 eth0',
  ]);
});

test('the default route is the one of the lowest metric', () => {
  const first = defaultRoute(parseRoutes(route));
  assert.equal(first && line(first), '0.0.0.0/0 10.16.0.1 net1');
  assert.equal(defaultRoute([]), undefined);
});

test('two routes for half of all addresses count as a default route and take precedence', () => {
  const half = (from: string, gateway: string): string =>
    `eth0 ${from} ${gateway} 0003 0 0 0 00000080 0 0 0\n`;
  const lower = half('00000000', '0200090A');
  const upper = half('00000080', '0300090A');
  const first = (text: string): string => {
    const found = defaultRoute(parseRoutes(text));
    return found ? line(found) : 'none';
  };
  assert.equal(first(lower + upper), '0.0.0.0/1 10.9.0.2 eth0');
  assert.equal(first(route + upper + lower), '0.0.0.0/1 10.9.0.2 eth0');
  assert.equal(first(lower), 'none', 'a half alone');
  assert.equal(first(route + upper), '0.0.0.0/0 10.16.0.1 net1');
});

test('an IPv6 gateway of an IPv4 route has no known address', () => {
  const [found] = parseRoutes('eth0 00000000 00000000 0003 0 0 0 00000000 0 0 0\n');
  assert.equal(found?.hiddenGateway, true);
  assert.equal(found?.gateway, undefined);
  const [direct] = parseRoutes('eth0 00000000 00000000 0001 0 0 0 00000000 0 0 0\n');
  assert.equal(direct?.hiddenGateway, undefined);
});

const arp = `IP address       HW type     Flags       HW address            Mask     Device
10.9.0.1         0x1         0x2         02:fc:00:00:00:05     *        eth0
10.9.0.3         0x1         0x0         00:00:00:00:00:00     *        eth0
169.254.1.1      0x1         0x6         ee:ee:ee:ee:ee:ee     *        eth0
`;

test('neighbours: answered, silent, permanent, or never asked', () => {
  assert.deepEqual(findNeighbour(arp, '10.9.0.1', 'eth0'), { complete: true, permanent: false });
  assert.deepEqual(findNeighbour(arp, '10.9.0.3', 'eth0'), { complete: false, permanent: false });
  assert.deepEqual(findNeighbour(arp, '169.254.1.1', 'eth0'), { complete: true, permanent: true });
  assert.equal(findNeighbour(arp, '10.9.0.1', 'net1'), undefined);
});

const udp6 = `  sl  local_address                         remote_address                        st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode ref pointer drops
 1233: 000000000000000000000000000000FD:B5E1 000000000000000000000000010000FD:0009 01 00000500:00000000 00:00000000 00000000 65534        0 91871 2 0000000000000000 0
 1234: 00000000000000000000000000000000:0035 00000000000000000000000000000000:0000 07 00000000:00000240 00:00000000 00000000     0        0 91872 2 0000000000000000 0
`;

test('the queued bytes of a socket', () => {
  assert.equal(queuedBytes(udp6, 0xb5e1), 0x500);
  assert.equal(queuedBytes(udp6, 53), 0);
  assert.equal(queuedBytes(udp6, 9), undefined, 'the port of the other end');
  assert.equal(queuedBytes('', 53), undefined);
});

test('the count of neighbour advertisements, if the kernel has it', () => {
  assert.equal(neighbourAnswers('Icmp6InEchos\t0\nIcmp6InNeighborAdvertisements   \t2\n'), 2);
  assert.equal(neighbourAnswers(''), undefined);
});
