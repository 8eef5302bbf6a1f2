import type { Socket } from 'node:net';
import { readDevices } from './devices.ts';
import { parseTcp, type TcpSocket, tcpState } from './proc/sockets.ts';
import { byteOrder } from './proc/words.ts';
import { readIPv6Table, readTable } from './read-text.ts';
import { type Address, parseSocketAddress } from './shared/addresses.ts';

/** The TCP sockets of this network namespace. */
export function readSockets(): TcpSocket[] {
  const texts = [readTable('/proc/net/tcp'), readIPv6Table('/proc/net/tcp6')];
  return texts.flatMap((text) => parseTcp(text, byteOrder()));
}

/** The address that a socket connects from. */
export function sourceOf({ localAddress }: Socket): Address[] {
  const address = parseSocketAddress(localAddress);
  return address === undefined ? [] : [address];
}

/**
 * The addresses of the pod, those of `lo` among them. A MASQUERADE rule in the pod puts one of them in the place of
 * the address that a socket connects from, and keeps the port unless that is taken (iptables-extensions(8)). No connection
 * comes in from outside by one of them: the answer to it would stay on `lo`.
 */
export const ownAddresses = (): Address[] => readDevices().flatMap(({ addresses }) => addresses);

/**
 * What the other end of a connection may be while ours is open. TIME_WAIT and CLOSE_WAIT are left over from a
 * connection that had the same port before: of the first nobody knows whose it was, the second is a program's that
 * never closes.
 */
const live = [tcpState.established, tcpState.synReceived, tcpState.finWait1, tcpState.finWait2];

/** The same, where the other end may have closed first: good enough to say who answered, not to prove anything. */
export const liveOrClosed: number[] = [...live, tcpState.timeWait];

/**
 * The port of the socket in this network namespace that is the other end of a connection, if one is.
 *
 * @param from the addresses that the connection may come from, as its other end sees it
 */
export function endedAt(
  from: Address[],
  fromPort: number,
  sockets: TcpSocket[],
  states: number[] = live,
): number | undefined {
  const isOther = ({ state, remote, remotePort }: TcpSocket): boolean =>
    states.includes(state) && remotePort === fromPort && from.some(({ hex }) => hex === remote.hex);
  return sockets.find(isOther)?.localPort;
}
