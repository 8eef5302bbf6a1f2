import { platform } from './platform.ts';
import { type Address, type Family, parseSocketAddress } from './shared/addresses.ts';

/** A server that sends a token to everyone who connects. */
export interface Listener {
  /** Whether it accepted a connection that came from one of these addresses and from this port. */
  accepted(from: Address[], port: number): boolean;
  close(): void;
}

/**
 * Listens on a port of one family, on all addresses of the pod, or returns the error's code.
 *
 * @param alone - whether the pod has no other family: then it listens without a host, and so for both. Node matches
 *   each host against a regular expression for IPv6, and compiling that takes a tenth of the whole run.
 */
export async function listen(
  port: number,
  family: Family,
  token: Uint8Array,
  alone: boolean,
): Promise<Listener | string> {
  const ends = new Set<string>();
  const own = { host: family === 'IPv6' ? '::' : '0.0.0.0', ipv6Only: family === 'IPv6' };
  const server = await platform.listen({
    port,
    ...(!alone && own),
    greeting: token,
    accepted: (address, from) => ends.add(`${parseSocketAddress(address)?.hex} ${from}`),
  });
  if (typeof server === 'string') return server;
  return {
    accepted: (from, fromPort) => from.some(({ hex }) => ends.has(`${hex} ${fromPort}`)),
    close: () => server.close(),
  };
}
