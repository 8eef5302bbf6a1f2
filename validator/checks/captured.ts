import { type Finding, failed, passed } from '../finding.ts';
import { close, now, sleep } from '../host/loop.ts';
import { dial } from '../host/tcp.ts';
import { ownAddresses, type Pod } from '../pod.ts';
import type { Reason } from '../reasons.ts';
import { type Family, formatAddress } from '../shared/addresses.ts';
import type { CapturedCheck } from '../shared/contract.ts';
import { formatTarget, type Target } from '../shared/targets.ts';
import type { Attempt } from '../simultaneous.ts';
import {
  endedAt,
  readListeners,
  readSocketsAt,
  sparePort,
  surelyEndsAt,
  surelyListens,
  type TcpSocket,
  tcpState,
} from '../sockets.ts';
import { askOutside } from '../targets.ts';

const attempt = 500;

/** Checks Istio's ambient mode, where ztunnel listens in the pod's network namespace. Does not bind ztunnel's ports. */
export function attemptCaptured(check: CapturedCheck, family: Family, pod: Pod): Attempt {
  return async (deadline) => {
    const unsure = check.listeners.filter((port) => !surelyListens(port, family));
    const closed = unsure.length > 0 ? withoutListener(unsure, family, readListeners()) : [];
    if (closed.length > 0)
      return failed('no-listener', `no listener on ${closed.join(', ')} in the pod (${family})`);
    const limit = limitOf(deadline);
    const finding = await askOutside(check.connect, family, pod.apiServer, (target) =>
      connectTo(target, check.outbound, limit, { missing: 'not-captured', elsewhere: 'not-captured' }),
    );
    return ofProxy(finding, check.outbound, family);
  };
}

/**
 * Returns another failure if the program that should get the connection does not listen, or accepts nothing, so that its
 * queue fills up and the kernel drops further connections. Both are not the network's fault.
 */
export function ofProxy(finding: Finding, port: number, family: Family): Finding {
  if (finding.passed) return finding;
  const listeners = listenersOn(port, family, readListeners());
  if (listeners.length === 0) return failed('no-listener', `no listener on ${port} in the pod (${family})`);
  if (listeners.every(({ waiting }) => waiting === 0)) return finding;
  return failed('starved', `connections to port ${port} that nothing accepts`);
}

/** How long, in milliseconds, an attempt that begins now may take. */
export const limitOf = (deadline: number): number => Math.min(attempt, Math.max(deadline - now(), 1));

/**
 * Connects to a target, and passes if the other end of the connection is a port of the pod. What the other end sends
 * would be no proof, because a node may send the pod's packets back, and a relay forwards them.
 * @param reasons of the failures that nothing answers, and that the connection ends elsewhere
 * @param from the source address
 */
export async function connectTo(
  target: Target,
  wanted: number,
  limit: number,
  { missing, elsewhere }: { missing: Reason; elsewhere: Reason },
  from?: string,
): Promise<Finding> {
  const at = formatTarget(target);
  const dialled = await dial({ host: target.host, port: target.port, limit, from, fromPort: sparePort() });
  if (dialled.as === 'no-route') return failed('no-route', `no route to ${at} (${dialled.code})`);
  if (dialled.as === 'refused') return failed(missing, `${at} refused (${dialled.code})`);
  if (dialled.as === 'silent') return failed(missing, `no answer from ${at}`);
  const { socket, source, port: own } = dialled;
  // reads the sockets immediately, because the other end may close the connection
  const isExpected = surelyEndsAt(wanted, target.host, source, own);
  const sockets = isExpected ? [] : readSocketsAt(own);
  const port = isExpected ? wanted : (endedAt(source, own, sockets) ?? endedAt(ownAddresses(), own, sockets));
  close(socket);
  const seen = `a connection to ${at} end at port ${port} in the pod`;
  if (port === wanted) return passed(seen);
  // the tables of sockets are long on a busy node, so they are not read ten times a second
  await sleep(limit);
  if (port !== undefined) return failed(elsewhere, seen);
  return failed(elsewhere, `a connection to ${at} that left the pod and was answered`);
}

/** Returns the ports on which nothing listens for connections of this family. */
export const withoutListener = (ports: number[], family: Family, sockets: TcpSocket[]): number[] =>
  ports.filter((port) => listenersOn(port, family, sockets).length === 0);

/** The listeners of a port for connections of this family. */
const listenersOn = (port: number, family: Family, sockets: TcpSocket[]): TcpSocket[] =>
  sockets.filter(
    ({ state, local, localPort }) =>
      state === tcpState.listen &&
      localPort === port &&
      // a listener on `::` serves IPv4 too (ipv6(7), `IPV6_V6ONLY` is off by default)
      (local.family === family || (family === 'IPv4' && formatAddress(local) === '::')),
  );
