import { type Finding, failed, passed } from '../finding.ts';
import { after, close } from '../host/loop.ts';
import { native } from '../host/native.ts';
import { accepting } from '../host/tcp.ts';
import { type Family, parseSocketAddress } from '../shared/addresses.ts';
import type { WitnessCheck } from '../shared/contract.ts';
import { ownAddresses } from './probe.ts';
import { cannotListen } from './redirect.ts';

/**
 * Waits so many milliseconds for the connection of the kubelet's startup probe, and finds how it arrived.
 *
 * The kubelet starts the next container as soon as it is connected. So nothing listens where it arrives if the mesh's
 * rule is missing: a socket there only counts the packets that it drops.
 *
 * @returns the finding of a check with these settings, or of one without `inbound`
 */
export async function awaitKubelet(
  { port, inbound }: WitnessCheck,
  family: Family,
  milliseconds: number,
): Promise<(check: WitnessCheck) => Finding> {
  const { promise, resolve } = Promise.withResolvers<string | undefined>();
  const own = ownAddresses();
  const listener = accepting(inbound ?? port, family, (connection) => {
    try {
      const from = native.otherEnd(connection).address;
      const isOwn = own.some(({ hex }) => hex === parseSocketAddress(from)?.hex);
      // another port is a peer's, which waits for this pod
      if (!isOwn && native.originalPort(connection) === port) resolve(from);
    } finally {
      close(connection);
    }
  });
  if (typeof listener === 'string') return () => cannotListen(inbound ?? port, family, listener);
  const bypassed =
    inbound === undefined ? undefined : accepting(port, family, close, (socket) => native.dropAll(socket));
  const forget = after(milliseconds, () => resolve(undefined));
  try {
    if (typeof bypassed === 'string') return () => cannotListen(port, family, bypassed);
    const from = await promise;
    if (from !== undefined) return () => passed(`a connection from ${from} come to port ${inbound ?? port}`);
    if (bypassed === undefined || native.dropped(bypassed) === 0)
      return () => failed('not-reached', `no connection to port ${port}`);
    const seen = `a connection to port ${port} that was not redirected`;
    return (check) => (check.inbound === undefined ? passed(seen) : failed('inbound-not-redirected', seen));
  } finally {
    forget();
    for (const socket of [listener, bypassed]) if (typeof socket === 'number') close(socket);
  }
}
