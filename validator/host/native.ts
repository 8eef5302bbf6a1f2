/**
 * Every function that the host's program (`src/`) offers. None of them waits, except `poll`. A function that fails
 * throws an error whose message is the system's name of it, such as `ENOENT`. A descriptor is a number that stays valid
 * until `close`; addresses are texts, and an IPv6 address may have its interface after `%`.
 */
export interface Native {
  /** The command line after the program. */
  arguments(): string[];
  environment(): Record<string, string>;
  userId(): number;
  groupId(): number;
  /** Milliseconds since the program started, on a monotonic clock. */
  now(): number;
  exit(code: number): never;
  /**
   * Replaces the program by one that waits for a signal and ends with 0, which gives memory back. Returns if it cannot.
   * @param address where it accepts and closes connections; empty for nowhere
   */
  waitForSignal(address: string): void;

  /** The text of a file; what is not UTF-8 in it is replaced. */
  readFile(path: string): string;
  writeFile(path: string, text: string): void;
  readLink(path: string): string;
  /** Bytes of `/dev/urandom`. */
  random(count: number): Uint8Array;
  /** Writes a well-formed text to standard output (1) or standard error (2), as far as it takes it. */
  write(descriptor: 1 | 2, text: string): void;

  /** An entry for each link-layer address and each IP address of an interface: getifaddrs(3). */
  interfaces(): { name: string; flags: number; address?: string | undefined; mac?: string | undefined }[];

  /**
   * The route to an address, from another one if that is given. Throws `ENETUNREACH` without one, and `EINVAL`,
   * `EHOSTUNREACH` or `EACCES` if its type is blackhole, unreachable or prohibit.
   */
  route(address: string, source: string | undefined): { device: string; gateway?: string | undefined };

  /** Opens a UDP socket of IPv4 (4) or IPv6 (6) that keeps the ICMP messages about what it sent. */
  datagrams(family: 4 | 6): number;
  /** Sends a datagram with a hop limit. Returns how many bytes were sent. */
  sendTo(socket: number, bytes: Uint8Array, address: string, port: number, hops: number): number;
  /** How many bytes wait in this machine: `SIOCOUTQ` of udp(7). */
  queued(socket: number): number;
  /** The ICMP messages that arrived: their sender, and what they quote of a datagram's payload. */
  icmpErrors(socket: number): { type: number; code: number; from?: string | undefined; quoted: Uint8Array }[];

  /** Opens a TCP socket of IPv4 (4) or IPv6 (6). */
  socket(family: 4 | 6): number;
  /** Binds with `SO_REUSEADDR`, and with `IPV6_V6ONLY` whatever the node's `bindv6only` is. */
  bind(socket: number, address: string, port: number): void;
  /** Begins to connect. Throws `EINPROGRESS` if the result comes later: then the socket becomes writable. */
  connect(socket: number, address: string, port: number): void;
  /** Throws the error that a connect ended with, if it has one. */
  socketError(socket: number): void;
  /** Listens, with as many waiting connections as the kernel allows. */
  listen(socket: number): void;
  /** Returns the socket of a waiting connection. Throws `EAGAIN` if there is none. */
  accept(socket: number): number;
  /** Returns how many bytes were sent. */
  send(socket: number, bytes: Uint8Array): number;
  /** Tells the other end that nothing more comes. */
  endWriting(socket: number): void;
  /** The port that a connection was made to, before a rule of this network namespace redirected it. */
  originalPort(socket: number): number;
  /** Makes the kernel drop what arrives at a bound socket, so that connects to it end in silence. */
  dropAll(socket: number): void;
  /** How many packets were dropped at a socket. */
  dropped(socket: number): number;
  localEnd(socket: number): SocketEnd;
  otherEnd(socket: number): SocketEnd;

  /** Up to 4096 bytes of a socket or pipe; none if the other end closed it. Throws `EAGAIN` if there are none yet. */
  read(descriptor: number): Uint8Array;
  close(descriptor: number): void;
  /** Waits at most this long (-1: for ever) for {@link pollEvent}s. Returns what happened to each; 0 for nothing. */
  poll(descriptors: number[], wanted: number[], milliseconds: number): number[];

  /** Looks a name up in a thread. The pipe has addresses separated by blanks, or `!` and the name of the error. */
  lookUp(name: string): number;
  /** A descriptor that is readable when SIGTERM, SIGINT or SIGHUP arrived. */
  signals(): number;
  /** The name of a signal that arrived. */
  readSignal(descriptor: number): string;
}

/** An address and port. The address has no interface. */
export interface SocketEnd {
  address: string;
  port: number;
}

/** `include/uapi/asm-generic/poll.h` */
export const pollEvent = { in: 0x1, out: 0x4 } as const;

/** What the program has put into the engine. */
export const native: Native = (globalThis as unknown as { native: Native }).native;

/** The name of an error that a native function threw. */
export const codeOf = (error: unknown): string => (error as Error).message;

/** Returns the text of a file, or of what is read otherwise, or an empty text if that is not possible. */
export function readText(path: string, read: (path: string) => string = native.readFile): string {
  try {
    return read(path);
  } catch {
    return '';
  }
}
