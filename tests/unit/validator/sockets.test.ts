import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAddress } from '../../../validator/shared/addresses.ts';
import { native } from './kernel.ts';

const { attemptCaptured } = await import('../../../validator/checks/captured.ts');
const { readPod } = await import('../../../validator/pod.ts');
const { parseTcp, tcpState } = await import('../../../validator/sockets.ts');

// the texts are as a real kernel wrote them in the network namespace of a pod

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

for (const table of ['/proc/net/tcp', '/proc/net/tcp6'])
  test(`an unreadable ${table} is an error, and not reported as no-listener`, async () => {
    native.readFile = (path: string) => {
      if (path === table) throw new Error('EMFILE');
      return '';
    };
    const check = { listeners: [15_001], outbound: 15_001, connect: ['192.0.2.2:1404'], timeout: '0s' };
    const pod = readPod({}, 1, () => []);
    await assert.rejects(attemptCaptured(check, 'IPv4', pod)(0), {
      message: `${table} cannot be read: EMFILE`,
    });
  });
