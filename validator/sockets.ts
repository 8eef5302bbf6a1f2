import { NotReadable } from './finding.ts';
import { codeOf, native, randomShare, readText } from './host/native.ts';
import { type Address, addressOf, type Family, formatAddress } from './shared/addresses.ts';

/** A row of `/proc/net/tcp` or `tcp6`, which list the sockets of the reading process's network namespace. */
export interface TcpSocket {
  local: Address;
  localPort: number;
  remote: Address;
  remotePort: number;
  /** A state of `include/net/tcp_states.h`, such as those of {@link tcpState}. */
  state: number;
  /** The number of bytes that are not read yet; for a listener, of connections that are not accepted yet. */
  waiting: number;
}

/** The states of `include/net/tcp_states.h` that matter here. */
export const tcpState = {
  established: 0x01,
  synReceived: 0x03,
  finWait1: 0x04,
  finWait2: 0x05,
  timeWait: 0x06,
  listen: 0x0a,
} as const;

/** The listeners, whose remote port is 0 and whose state is {@link tcpState.listen}. */
export const readListeners = (): TcpSocket[] => readSockets(':0000 0A ');

/** The sockets of which one end has this port. */
export const readSocketsAt = (port: number): TcpSocket[] =>
  readSockets(`:${port.toString(16).toUpperCase().padStart(4, '0')} `);

/** @param part a text in the rows to read, because a pod may have thousands of sockets */
function readSockets(part: string): TcpSocket[] {
  return ['/proc/net/tcp', '/proc/net/tcp6'].map((path) => readTable(path, part)).flatMap(parseTcp);
}

/** Parses the rows of `/proc/net/tcp` or `tcp6`: https://docs.kernel.org/networking/proc_net_tcp.html */
function parseTcp(text: string): TcpSocket[] {
  const end = '([0-9A-F]{8}|[0-9A-F]{32}):([0-9A-F]{4})';
  const row = new RegExp(`^\\s*\\d+: ${end} ${end} ([0-9A-F]{2})\\s(?:[0-9A-F]+:([0-9A-F]+))?`, 'gim');
  const address = (words = ''): Address => addressOf(bytesOfWords(words));
  const number = (hex = ''): number => Number.parseInt(hex, 16);
  return [...text.matchAll(row)].map(([, local, localPort, remote, remotePort, state, waiting = '0']) => ({
    local: address(local),
    localPort: number(localPort),
    remote: address(remote),
    remotePort: number(remotePort),
    state: number(state),
    waiting: number(waiting),
  }));
}

/** The states of the other end of an open connection. Other states belong to an earlier connection of that port. */
const live: number[] = [tcpState.established, tcpState.synReceived, tcpState.finWait1, tcpState.finWait2];

/** The port of a connection's other end, if that is in this network namespace. @param from our possible addresses */
export function endedAt(from: Address[], fromPort: number, sockets: TcpSocket[]): number | undefined {
  const isOther = ({ state, remote, remotePort }: TcpSocket): boolean =>
    live.includes(state) && remotePort === fromPort && from.some(({ hex }) => hex === remote.hex);
  return sockets.find(isOther)?.localPort;
}

/**
 * The address to which a rule redirects the pod's own connections. It is also the source address for inbound checks, as
 * in Istio's validation: the inbound rule excludes all others.
 */
export const loopback: Record<Family, string> = { IPv4: '127.0.0.1', IPv6: '::1' };

/** Asks the kernel about one socket, which is far cheaper than reading its tables. False if the kernel cannot tell. */
function isInState(states: readonly number[], ...ends: Parameters<typeof native.stateAt>): boolean {
  try {
    return states.includes(native.stateAt(...ends));
  } catch {
    return false;
  }
}

/** Whether the kernel confirms that a connection ends at a port of the pod, on `lo` or at the connection's target. */
export const surelyEndsAt = (port: number, host: string, from: Address[], fromPort: number): boolean =>
  from.some((it) =>
    [loopback[it.family], host].some((at) => isInState(live, at, port, formatAddress(it), fromPort)),
  );

/**
 * A random port that the kernel does not choose for connections of the pod's other programs; 0 if none.
 * If two redirected connections used one source port, they would differ only in their targets. So the kernel
 * would translate the port of the second, and {@link endedAt} could not find its other end.
 */
export function sparePort(): number {
  const range = readText('/proc/sys/net/ipv4/ip_local_port_range').trim().split(/\s+/).map(Number);
  const [low = 0, high = 65_535] = range;
  const [first, last] = high < 65_535 ? [high + 1, 65_535] : [1024, low - 1];
  return first > last ? 0 : first + Math.floor(randomShare() * (last - first));
}

/** Whether the kernel confirms that there is a listener on this port. */
export const surelyListens = (port: number, family: Family): boolean =>
  isInState([tcpState.listen], loopback[family], port, loopback[family], 0);

/** The lines of a kernel table that contain `part`. @throws NotReadable, except for `tcp6` without IPv6 */
function readTable(path: string, part: string): string {
  try {
    return native.readFile(path, part);
  } catch (error) {
    if (path.includes('6') && codeOf(error) === 'ENOENT') return '';
    throw new NotReadable(`${path} cannot be read: ${codeOf(error)}`);
  }
}

/** The bytes of an address in `/proc/net/tcp`, whose 32-bit words are little-endian on amd64 and arm64. */
function bytesOfWords(words: string): string {
  return (words.match(/.{8}/g) ?? [])
    .map((word) => (word.match(/../g) ?? []).reverse().join(''))
    .join('')
    .toLowerCase();
}
