import { type Finding, failed, passed } from '../finding.ts';
import { after, close, sleep } from '../host/loop.ts';
import { native } from '../host/native.ts';
import { accepting } from '../host/tcp.ts';
import { ownAddresses, type Pod } from '../pod.ts';
import { type Family, formatAddress, isIn } from '../shared/addresses.ts';
import type { WitnessCheck } from '../shared/contract.ts';
import { defaultRoute } from './default-route.ts';
import { cannotListen } from './redirect.ts';

/** The settings of the check, and the address family by which the kubelet connects. */
export type Witness = WitnessCheck & { family: Family };

/**
 * Waits for the connection of the kubelet's startup probe, and finds out how it arrived. Without the mesh's rule, it
 * arrives at `port`, where a socket drops the packets and counts them. If it is not certain that a connection comes
 * from the node, the port stays open for ten seconds more: another pod may have connected before the kubelet.
 * @returns a function that gives the finding for a check's settings, with or without `inbound`
 */
export async function awaitKubelet(
  { port, inbound, exempt = [], family }: Witness,
  pod: Pod,
  milliseconds: number,
): Promise<(check: WitnessCheck) => Finding> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let forget = after(milliseconds, resolve);
  const own = ownAddresses().map(formatAddress);
  const route = defaultRoute(family);
  const gateway = route && 'gateway' in route ? route.gateway : undefined;
  // the gateway's address usually belongs to the node
  const node = [...pod.nodeAddresses, ...(gateway ? [gateway] : [])];
  let seen: string | undefined;
  const accept = (at: number): number | string =>
    accepting(at, family, (connection) => {
      try {
        const source = native.otherEnd(connection).address;
        // a connection to any other port is not the probe, but comes from another pod that waits for this pod
        if (own.includes(source) || native.originalPort(connection) !== port) return;
        const isEnough = inbound === undefined || node.some((address) => formatAddress(address) === source);
        if (seen !== undefined && !isEnough) return;
        seen = `a connection from ${source} come to port ${at}`;
        forget();
        forget = after(isEnough ? 0 : 10_000, resolve);
      } finally {
        close(connection);
      }
    });
  const isExempt = exempt.some((subnet) => node.some((address) => isIn(address, subnet)));
  const count = (): number | string => accepting(port, family, close, (socket) => native.dropAll(socket));
  const listener = accept(inbound ?? port);
  const second = inbound === undefined ? undefined : isExempt ? accept(port) : count();
  try {
    if (typeof listener === 'string') return () => cannotListen(inbound ?? port, family, listener);
    if (typeof second === 'string') return () => cannotListen(port, family, second);
    await promise;
    // connections that arrive before the last poll count; packets of later connections are dropped
    native.dropAll(listener);
    if (second !== undefined && isExempt) native.dropAll(second);
    await sleep(0);
    if (seen !== undefined) return () => passed(seen ?? '');
    if (second === undefined || isExempt || native.dropped(second) === 0)
      return () => failed('not-reached', `no connection to port ${port}`);
    const bypass = `a connection to port ${port} that was not redirected`;
    return (check) =>
      check.inbound === undefined ? passed(bypass) : failed('inbound-not-redirected', bypass);
  } finally {
    forget();
    for (const socket of [listener, second]) if (typeof socket === 'number') close(socket);
  }
}
