import type { Family } from './shared/addresses.ts';

/**
 * What the checks need of the machine. They import nothing else: no module of Node, and no global but those of
 * ECMAScript. `node/platform.ts` implements it with Node, `host/platform.ts` with the functions of a small program.
 * Errors have the system's name of the error as `code`, such as `ENOENT`, and a message that begins with it.
 */
export interface Platform {
  /** The command line after the program. */
  arguments(): string[];
  environment(): Record<string, string | undefined>;
  userId(): number;
  groupId(): number;

  /** Milliseconds since the process started, on a monotonic clock. */
  now(): number;
  /** Calls a function after so many milliseconds. Returns a function that prevents it. */
  after(milliseconds: number, act: () => void): () => void;
  /** Resolves when pending I/O was handled. */
  afterPending(): Promise<void>;

  /** The text of a file. Throws if it cannot be read. */
  readFile(path: string): string;
  /** Replaces the text of a file. Throws if it cannot be written. */
  writeFile(path: string, text: string): void;
  exists(path: string): boolean;
  /** The target of a symbolic link. Throws if there is none. */
  readLink(path: string): string;
  /** Random bytes of the kernel. Throws if it gives none. */
  random(count: number): Uint8Array;
  /** The bytes of a text in UTF-8. */
  encode(text: string): Uint8Array;
  /** Writes bytes to standard output (1) or standard error (2), and returns how many were written. Throws `EAGAIN` if it would block. */
  write(descriptor: 1 | 2, bytes: Uint8Array): number;

  /** The addresses of the interfaces that are up, running and have one, by name; each with the interface's `mac`. */
  networkInterfaces(): Record<string, { address: string; mac: string }[] | undefined>;
  /** The addresses of a name, by the system's resolver. Rejects with the `code` `ENOTFOUND` or `EAI_…`. */
  lookUp(name: string): Promise<NamedAddress[]>;
  /** Connects by TCP, and says how that ended. It never throws. The caller closes a connection. */
  dial(options: DialOptions): Promise<Dialled>;
  /** Listens by TCP, or returns the code of the error. */
  listen(options: ListenOptions): Promise<{ close(): void } | string>;
  /** A UDP socket. */
  datagramSocket(family: Family): DatagramSocket;

  /** Calls a function when one of these signals arrives, instead of what it does by default. */
  onSignal<Name extends string>(names: readonly Name[], act: (name: Name) => void): void;
  /** Calls a function with an error that nothing caught. */
  onDefect(act: (error: unknown) => void): void;
  exit(code: number): never;
}

/** An address of a name; the family is 4 or 6. */
export interface NamedAddress {
  address: string;
  family: number;
}

/** Options of {@link Platform.dial}. */
export interface DialOptions {
  host: string;
  port: number;
  localAddress?: string;
  /** How to look up a name, if the caller needs a special way. */
  lookUp?: (name: string) => Promise<NamedAddress[]>;
  /** Milliseconds after which the connect counts as unanswered. */
  limit: number;
}

/** How a TCP connect ended. */
export type Dialled =
  | { as: 'connected'; socket: Connection }
  /** This machine's own routes refused it: no packet was sent. */
  | { as: 'no-route'; code: string }
  | { as: 'refused'; code: string }
  /** `resolved` is false if the name has no address yet. */
  | { as: 'silent'; resolved: boolean };

/** A TCP connection. It reads nothing before there is a listener for `data`, and closes when the other end does. */
export interface Connection {
  readonly localAddress?: string | undefined;
  readonly localPort?: number | undefined;
  on(event: 'data', listener: (bytes: Uint8Array) => void): unknown;
  on(event: 'close', listener: () => void): unknown;
  destroy(): unknown;
}

/** Options of {@link Platform.listen}. */
export interface ListenOptions {
  port: number;
  /** Without one: all addresses of both families, or of IPv4 if IPv6 cannot be listened on. */
  host?: string;
  /** For the host `::`: without IPv4. */
  ipv6Only?: boolean;
  /** What each connection is sent, and then its end. */
  greeting: Uint8Array;
  /** Called with the other end of each connection. */
  accepted: (address: string | undefined, port: number | undefined) => void;
}

/** The error of a datagram. */
export interface SocketError {
  code?: string | undefined;
  message: string;
}

/** A UDP socket. `error` is also emitted for what the kernel reports later, such as `ECONNREFUSED`. */
export interface DatagramSocket {
  /** Emits `connect` or `error`. */
  connect(port: number, address: string): void;
  disconnect(): void;
  /** Sends to the connected address. */
  send(bytes: Uint8Array, done: (error: SocketError | null) => void): void;
  /** The own address of a connected socket. */
  address(): { address: string; port: number };
  on(event: 'connect', listener: () => void): unknown;
  on(event: 'error', listener: (error: SocketError) => void): unknown;
  close(): unknown;
}

/** The platform of this process. */
export let platform: Platform;

/** Sets {@link platform}, before anything else runs. */
export function usePlatform(chosen: Platform): void {
  platform = chosen;
}
