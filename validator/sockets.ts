import { readDevices } from './devices.ts';
import type { Connection } from './platform.ts';
import { parseTcp, type TcpSocket, tcpState } from './proc/sockets.ts';
import { byteOrder } from './proc/words.ts';
import { readIPv6Table, readTable } from './read-text.ts';
import { type Address, parseSocketAddress } from './shared/addresses.ts';

/** The TCP sockets of this network namespace. */
export function readSockets(): TcpSocket[] {
  const texts = [readTable('/proc/net/tcp'), readIPv6Table('/proc/net/tcp6')];
  return texts.flatMap((text) => parseTcp(text, byteOrder()));
}

/** The source address of a socket. */
export function sourceOf({ localAddress }: Connection): Address[] {
  const address = parseSocketAddress(localAddress);
  return address === undefined ? [] : [address];
}

/**
 * The addresses of the pod, including those of `lo`. A MASQUERADE rule in the pod replaces a socket's source address by
 * one of them, and keeps the port unless it is taken (iptables-extensions(8)). No connection from outside can have one
 * of them as source: its answer would stay on `lo`.
 */
export const ownAddresses = (): Address[] => readDevices().flatMap(({ addresses }) => addresses);

/**
 * The states of the other end of a connection while ours is open. TIME_WAIT and CLOSE_WAIT are left from an earlier
 * connection with the same port.
 */
const live = [tcpState.established, tcpState.synReceived, tcpState.finWait1, tcpState.finWait2];

/** The same if the other end may have closed first: enough to say who answered, but not for a proof. */
export const liveOrClosed: number[] = [...live, tcpState.timeWait];

/**
 * Returns the port of the socket in this network namespace that is the other end of a connection, if any.
 *
 * @param from the possible source addresses of the connection, as its other end sees them
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
