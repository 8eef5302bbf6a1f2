/**
 * All functions that the host program (`src/`) offers. Only `poll` blocks. A function that fails throws an error whose
 * message is the name of a system error, such as `ENOENT`. A descriptor is a number that stays valid until `close`.
 * Addresses are strings; an IPv6 address may be followed by `%` and its interface.
 */
export interface Native {
  /** The command line without the program's name. */
  arguments(): string[];
  environment(): Record<string, string>;
  userId(): number;
  groupId(): number;
  /** Milliseconds since the program started, on a monotonic clock. */
  now(): number;
  exit(code: number): never;
  /**
   * Replaces this program with one that uses less memory. The new program accepts and closes connections at the
   * listeners. After a signal, it exits with 0. After this many milliseconds (-1: never), it becomes this program
   * again, with the arguments `next`, and the listeners stay open for {@link adopt}. Returns only on failure.
   */
  rest(listeners: number[], milliseconds: number, next: string[]): void;
  /** Takes over a descriptor that the previous program left open in {@link rest}. */
  adopt(descriptor: number): number;

  /** The text of a file, or only its lines that contain `part`. Bytes that are not UTF-8 are replaced. */
  readFile(path: string, part?: string): string;
  writeFile(path: string, text: string): void;
  readLink(path: string): string;
  /** Random bytes from `/dev/urandom`. */
  random(count: number): Uint8Array;
  /** Writes a well-formed text to standard output (1) or standard error (2), as much of it as the stream accepts. */
  write(descriptor: 1 | 2, text: string): void;

  /** An entry for each link-layer address and each IP address of each interface: getifaddrs(3). */
  interfaces(): { name: string; flags: number; address?: string | undefined; mac?: string | undefined }[];

  /**
   * The route to an address. Throws `ENETUNREACH` if there is none, and
   * `EINVAL`, `EHOSTUNREACH` or `EACCES` if the route's type is blackhole, unreachable or prohibit.
   */
  route(address: string): { device: string; gateway?: string | undefined };

  /** Opens a UDP socket for IPv4 (4) or IPv6 (6) that keeps the ICMP messages about its datagrams. */
  datagrams(family: 4 | 6): number;
  /** Sends a datagram with the given hop limit. Returns the number of bytes sent. */
  sendTo(socket: number, bytes: Uint8Array, address: string, port: number, hops: number): number;
  /** How many sent bytes are still queued in this machine: `SIOCOUTQ` of udp(7). */
  queued(socket: number): number;
  /** The ICMP messages that arrived at a UDP or TCP socket that keeps them, with their senders and what they quote. */
  icmpErrors(socket: number): { type: number; code: number; from?: string | undefined; quoted: Uint8Array }[];

  /** Opens a TCP socket for IPv4 (4) or IPv6 (6). @param errors whether to keep ICMP messages about a connect */
  socket(family: 4 | 6, errors: boolean): number;
  /** Binds with `SO_REUSEADDR`, and with `IPV6_V6ONLY` whatever the node's `bindv6only` is. */
  bind(socket: number, address: string, port: number): void;
  /** Begins to connect. Throws `EINPROGRESS` if the result comes later, when the socket becomes writable. */
  connect(socket: number, address: string, port: number): void;
  /** Throws the error with which a connect ended, if it failed. */
  socketError(socket: number): void;
  /** Listens, with the longest queue of waiting connections that the kernel allows. */
  listen(socket: number): void;
  /** Returns the socket of a waiting connection. Throws `EAGAIN` if there is none. */
  accept(socket: number): number;
  /** The port to which a client connected, before a rule of this network namespace redirected the connection. */
  originalPort(socket: number): number;
  /** Makes the kernel drop all packets that arrive at a bound socket, so that clients get no answer. */
  dropAll(socket: number): void;
  /** The number of packets that were dropped at a socket. */
  dropped(socket: number): number;
  /**
   * The state (`include/net/tcp_states.h`) of the TCP socket with these ends in this network namespace. Without such a
   * socket, the state of the listener for such a connection; without a listener, 255. Throws if the kernel fails.
   */
  stateAt(local: string, localPort: number, other: string, otherPort: number): number;
  localEnd(socket: number): SocketEnd;
  otherEnd(socket: number): SocketEnd;

  /** Reads up to 4096 bytes of a pipe; none if the other end closed it. */
  read(descriptor: number): Uint8Array;
  close(descriptor: number): void;
  /** Waits at most this long for {@link pollEvent}s; with -1, forever. Returns each descriptor's events, or 0. */
  poll(descriptors: number[], wanted: number[], milliseconds: number): number[];

  /** Resolves a name in a thread. Returns a pipe with blank-separated addresses, or `!` and an error code. */
  lookUp(name: string): number;
  /** A descriptor that becomes readable when SIGTERM, SIGINT or SIGHUP arrives. */
  signals(): number;
  /** The name of the signal that arrived. */
  readSignal(descriptor: number): string;
}

/** The address and port of one end of a socket, without an interface. */
export interface SocketEnd {
  address: string;
  port: number;
}

/** Events of `include/uapi/asm-generic/poll.h`. */
export const pollEvent = { in: 0x1, out: 0x4 } as const;

/** The functions that the host program has put into the JavaScript engine. */
export const native: Native = (globalThis as unknown as { native: Native }).native;

/** A random number from 0 to 1. */
export function randomShare(): number {
  const [high = 0, low = 0] = native.random(2);
  return (high * 256 + low) / 65_535;
}

/** The name of the system error that a native function threw. */
export const codeOf = (error: unknown): string => (error as Error).message;

/** Returns the text of a file, or what `read` returns for the path; an empty string if that fails. */
export function readText(path: string, read: (path: string) => string = native.readFile): string {
  try {
    return read(path);
  } catch {
    return '';
  }
}
