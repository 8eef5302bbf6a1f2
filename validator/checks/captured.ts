import { type Finding, failed, passed } from '../finding.ts';
import { close, now } from '../host/loop.ts';
import { dial } from '../host/tcp.ts';
import type { Pod } from '../pod.ts';
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
import { ownAddresses } from './probe.ts';

const attempt = 500;

/** Checks Istio's ambient mode, where ztunnel listens in the pod's network namespace, without binding its ports. */
export function attemptCaptured(check: CapturedCheck, family: Family, pod: Pod): Attempt {
  return async (deadline) => {
    const unsure = check.listeners.filter((port) => !surelyListens(port, family));
    const missing = unsure.length > 0 ? withoutListener(unsure, family, readListeners()) : [];
    if (missing.length > 0)
      return failed('no-listener', `no listener on ${missing.join(', ')} in the pod (${family})`);
    const limit = limitOf(deadline);
    return askOutside(check.connect, family, pod.apiServer, (target) =>
      connectTo(target, check.outbound, limit, 'not-captured'),
    );
  };
}

/** How long, in milliseconds, an attempt that begins now may take. */
export const limitOf = (deadline: number): number => Math.min(attempt, Math.max(deadline - now(), 1));

/**
 * Connects to a target, and passes if the connection ends at a port of the pod. A program there that accepts nothing, so
 * that its queue is full and the kernel drops connections, is not the network's fault: it is `starved`.
 * @param reason of the failure that the connection is not redirected
 * @param from the source address
 */
export async function connectTo(
  target: Target,
  wanted: number,
  limit: number,
  reason: Reason,
  from?: string,
): Promise<Finding> {
  const at = formatTarget(target);
  const dialled = await dial({ host: target.host, port: target.port, limit, from, fromPort: sparePort() });
  if (dialled.as === 'no-route') return failed('no-route', `no route to ${at} (${dialled.code})`);
  if (dialled.as === 'refused') return failed(reason, `${at} refused (${dialled.code})`);
  if (dialled.as === 'silent') {
    const isStuck = listenersOn(wanted, target.family, readListeners()).some(({ waiting }) => waiting > 0);
    if (isStuck) return failed('starved', `connections to port ${wanted} that nothing accepts`);
    return failed(reason, `no answer from ${at}`);
  }
  const { socket, source, port: own } = dialled;
  // reads the sockets immediately, because the other end may close the connection
  const isExpected = surelyEndsAt(wanted, target.host, source, own);
  const sockets = isExpected ? [] : readSocketsAt(own);
  const port = isExpected ? wanted : (endedAt(source, own, sockets) ?? endedAt(ownAddresses(), own, sockets));
  close(socket);
  const seen = `a connection to ${at} end at port ${port} in the pod`;
  if (port === wanted) return passed(seen);
  if (port !== undefined) return failed(reason, seen);
  return failed(reason, `a connection to ${at} that left the pod and was answered`);
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
