import { type Finding, failed, passed } from '../finding.ts';
import { now } from '../host/loop.ts';
import { dial } from '../host/tcp.ts';
import type { Pod } from '../pod.ts';
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
import { askOutside } from '../spare-targets.ts';
import { ownAddresses } from './probe.ts';

const attempt = 500;

/** Checks Istio's ambient mode, where ztunnel listens in the pod's network namespace. Does not bind ztunnel's ports. */
export function attemptCaptured(check: CapturedCheck, family: Family, pod: Pod): Attempt {
  return async (deadline) => {
    const unsure = check.listeners.filter((port) => !surelyListens(port, family));
    const missing = unsure.length > 0 ? withoutListener(unsure, family, readListeners()) : [];
    if (missing.length > 0)
      return failed('no-listener', `no listener on ${missing.join(', ')} in the pod (${family})`);
    const limit = limitOf(deadline);
    return askOutside(check.connect, family, pod.apiServer, (target) =>
      connectTo(target, check.outbound, limit),
    );
  };
}

/**
 * The check in a recheck. If ztunnel accepts no connections, its queue fills up, and the kernel drops further
 * connections: this is not the network's fault, so the check then shows nothing.
 */
export function attemptCapturedLater(check: CapturedCheck, family: Family, pod: Pod): Attempt {
  const ask = attemptCaptured(check, family, pod);
  return async (deadline) => {
    const finding = await ask(deadline);
    if (finding.passed || finding.reason !== 'not-captured') return finding;
    return acceptsNothing(listenersOn(check.outbound, family, readListeners()))
      ? failed('starved', `connections to port ${check.outbound} that nothing accepts`)
      : finding;
  };
}

/** Whether connections wait at one of the listeners. */
export const acceptsNothing = (listeners: TcpSocket[]): boolean =>
  listeners.some(({ waiting }) => waiting > 0);

/** How long, in milliseconds, an attempt that begins now may take. */
export const limitOf = (deadline: number): number => Math.min(attempt, Math.max(deadline - now(), 1));

/** Connects to a target, and passes if the connection ends at the port `outbound`. @param from the source address */
export async function connectTo(
  target: Target,
  outbound: number,
  limit: number,
  from?: string,
): Promise<Finding> {
  const at = formatTarget(target);
  const dialled = await dial({ host: target.host, port: target.port, limit, from, fromPort: sparePort() });
  if (dialled.as === 'no-route') return failed('no-route', `no route to ${at} (${dialled.code})`);
  if (dialled.as === 'refused') return failed('not-captured', `${at} refused (${dialled.code})`);
  if (dialled.as === 'silent') return failed('not-captured', `no answer from ${at}`);
  const { source, port: own } = dialled.socket;
  // reads the sockets immediately, because the other end may close the connection
  const isExpected = surelyEndsAt(outbound, target.host, source, own);
  const sockets = isExpected ? [] : readSocketsAt(own);
  const port = isExpected
    ? outbound
    : (endedAt(source, own, sockets) ?? endedAt(ownAddresses(), own, sockets));
  dialled.socket.close();
  const seen = `a connection to ${at} end at port ${port} in the pod`;
  if (port === outbound) return passed(seen);
  if (port !== undefined) return failed('not-captured', seen);
  return failed('not-captured', `a connection to ${at} that left the pod and was answered`);
}

/** Returns the ports on which nothing listens for connections of this family. */
export const withoutListener = (ports: number[], family: Family, sockets: TcpSocket[]): number[] =>
  ports.filter((port) => listenersOn(port, family, sockets).length === 0);

/** The listeners of a port for connections of this family. */
export const listenersOn = (port: number, family: Family, sockets: TcpSocket[]): TcpSocket[] =>
  sockets.filter(
    ({ state, local, localPort }) =>
      state === tcpState.listen &&
      localPort === port &&
      // a listener on `::` serves IPv4 too (ipv6(7), `IPV6_V6ONLY` is off by default)
      (local.family === family || (family === 'IPv4' && formatAddress(local) === '::')),
  );
