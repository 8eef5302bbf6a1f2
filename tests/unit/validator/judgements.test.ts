import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withoutListener } from '../../../validator/checks/connect.ts';
import { judgeAddresses } from '../../../validator/checks/gateway.ts';
import { answerIn } from '../../../validator/checks/round-trip.ts';
import { type Finding, failed, mostTelling } from '../../../validator/finding.ts';
import type { Device } from '../../../validator/pod.ts';
import { type Address, parseAddress } from '../../../validator/shared/addresses.ts';
import { endedAt, type TcpSocket, tcpState } from '../../../validator/sockets.ts';

const addresses = (...texts: string[]): Address[] => texts.flatMap((text) => parseAddress(text) ?? []);
const device = (name: string, up: boolean, ...ips: string[]): Device => ({
  ...{ name, up, neighbours: true, mac: '' },
  addresses: addresses(...ips),
});
const word = (finding: Finding): string => (finding.passed ? 'passed' : finding.reason);

test('an address of the pod is on an interface, and not on lo', () => {
  const devices = [
    device('lo', true, '10.9.0.3'),
    device('eth0', true, '10.9.0.2', 'fd09::2'),
    device('eth1', false, '10.9.0.4'),
  ];
  assert.equal(word(judgeAddresses(addresses('10.9.0.2'), devices)), 'passed');
  assert.equal(word(judgeAddresses(addresses('fd09:0:0::2'), devices)), 'passed');
  assert.equal(word(judgeAddresses(addresses('10.9.0.3'), devices)), 'address-missing');
  assert.equal(word(judgeAddresses(addresses('0.0.0.0'), devices)), 'address-missing', 'Multus says so');
  assert.equal(word(judgeAddresses([], devices)), 'address-unknown');
  const withoutCarrier = judgeAddresses(addresses('10.9.0.4'), devices);
  assert.equal(word(withoutCarrier), 'address-missing');
  assert.equal(withoutCarrier.seen, '10.9.0.4 on eth1, which is down or has no carrier');
});

test('of several failures, the most informative one counts', () => {
  const found = [
    failed('no-route', 'a'),
    failed('answered-by-someone-else', 'b'),
    failed('not-redirected', 'c'),
    failed('answered-by-someone-else', 'd'),
  ];
  assert.deepEqual(mostTelling(found), failed('answered-by-someone-else', 'b; d'));
  assert.deepEqual(mostTelling(found.slice(0, 1)), failed('no-route', 'a'));
});

const socket = (local: string, localPort: number, remote: string, remotePort: number): TcpSocket => {
  const [from, to] = addresses(local, remote);
  assert.ok(from && to);
  return {
    local: from,
    localPort,
    remote: to,
    remotePort,
    state: remotePort === 0 ? tcpState.listen : tcpState.established,
    waiting: 0,
  };
};

test('a listener serves its own family; one on :: serves both', () => {
  const sockets = [
    socket('0.0.0.0', 15001, '0.0.0.0', 0),
    socket('::', 15006, '::', 0),
    socket('::1', 15008, '::', 0),
    socket('127.0.0.1', 15053, '10.9.0.2', 4711),
  ];
  assert.deepEqual(withoutListener([15001, 15006, 15008, 15053], 'IPv4', sockets), [15008, 15053]);
  assert.deepEqual(withoutListener([15001, 15006, 15008, 15053], 'IPv6', sockets), [15001, 15053]);
});

test('a connection is captured if its other end is in this network namespace', () => {
  const from = addresses('10.9.0.2');
  const own = socket('10.9.0.2', 40_000, '192.0.2.2', 1404);
  const other = socket('127.0.0.1', 15_001, '10.9.0.2', 40_000);
  const ofAnother = socket('127.0.0.1', 15_001, '10.9.0.3', 40_000);
  assert.equal(endedAt(from, 40_000, [own, ofAnother, other]), 15_001);
  assert.equal(endedAt(from, 40_000, [own]), undefined, 'our own end does not count');
  assert.equal(endedAt(from, 40_001, [own, other]), undefined, 'another connection');
  assert.equal(endedAt(from, 40_000, [own, ofAnother]), undefined, "another pod's");
  assert.equal(endedAt([], 40_000, [own, other]), undefined);
  assert.equal(endedAt(addresses('10.9.0.3', '10.9.0.2'), 40_000, [own, other]), 15_001, 'one of several');
});

test('sockets left from an earlier connection with the same port do not count', () => {
  const from = addresses('10.9.0.2');
  const left = socket('127.0.0.1', 15_001, '10.9.0.2', 40_000);
  const counts = (state: number): boolean => endedAt(from, 40_000, [{ ...left, state }]) !== undefined;
  const { established, synReceived, finWait1, finWait2, timeWait, listen } = tcpState;
  const closeWait = 0x08;
  assert.deepEqual([established, synReceived, finWait1, finWait2].map(counts), [true, true, true, true]);
  assert.deepEqual([timeWait, closeWait, listen].map(counts), [false, false, false]);
});

test('an answer of the node quotes our token, is not from a filter, and has a possible sender', () => {
  const asked = [
    { host: '10.9.0.1', isOutside: false, token: new Uint8Array([1, 2, 3]) },
    { host: '192.0.2.2', isOutside: true, token: new Uint8Array([4]) },
  ];
  const word = (type: number, code: number, from: string, quoted = [1, 2, 3, 4]): string | undefined => {
    const [sender] = addresses(from);
    const message = { type, code, from: sender, quoted: new Uint8Array(quoted) };
    return answerIn([message], asked, addresses('10.9.0.2'), addresses('10.9.0.1'))?.seen;
  };
  assert.equal(word(3, 3, '10.9.0.1'), 'the answer "port unreachable" of the node (10.9.0.1)');
  assert.equal(word(11, 0, '10.9.0.9', [4]), 'the answer "time exceeded" of a router (10.9.0.9)');
  assert.equal(word(1, 0, 'fd09::1', [4]), 'the answer "no route" of a router (fd09::1)');
  const refused = {
    'of the pod itself': word(11, 0, '10.9.0.2', [4]),
    'of a filter in the name of the host': word(3, 1, '10.9.0.1'),
    'of a filter in the name of the address outside': word(3, 1, '192.0.2.2', [4]),
    'of a port outside': word(3, 3, '10.9.0.1', [4]),
    'to another datagram': word(3, 3, '10.9.0.1', [1, 2, 4]),
    'that quotes too little': word(3, 3, '10.9.0.1', [1, 2]),
    'of a filter': word(3, 13, '10.9.0.1'),
    'of another host for its port': word(3, 3, '10.9.0.9'),
    'without a sender': word(3, 3, ''),
  };
  assert.deepEqual(Object.values(refused), Array(9).fill(undefined), JSON.stringify(refused));
});
