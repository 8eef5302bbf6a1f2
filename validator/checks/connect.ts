import { type Failed, type Finding, failed, mostTelling, passed } from '../finding.ts';
import { close, now, sleep } from '../host/loop.ts';
import { dial } from '../host/tcp.ts';
import { ownAddresses } from '../pod.ts';
import type { Reason } from '../reasons.ts';
import { type Family, formatAddress, parseAddress } from '../shared/addresses.ts';
import { formatTarget, type Target, targetsOf } from '../shared/targets.ts';
import {
  endedAt,
  readListeners,
  readSocketsAt,
  sparePort,
  surelyEndsAt,
  type TcpSocket,
  tcpState,
} from '../sockets.ts';

/* How the checks of meshes connect, and how they see where a connection ends. */

const attempt = 500;

/** How long, in milliseconds, an attempt that begins now may take. */
export const limitOf = (deadline: number): number => Math.min(attempt, Math.max(deadline - now(), 1));

/** Connects to a target, and returns what the connection shows about the mesh's rules. */
export type Ask = (target: Target) => Promise<Finding>;

/**
 * Tries the profile's addresses. If none has a route, tries the API server's address at the same port: a redirect
 * happens after routing, and every proxy of a mesh needs a route to the API server.
 */
export async function askOutside(
  connect: string[],
  family: Family,
  apiServer: string | undefined,
  ask: Ask,
): Promise<Finding> {
  const targets = targetsOf(connect, family);
  const finding = await askAll(targets, ask);
  const spare = parseAddress(apiServer ?? '');
  if (finding.passed || finding.reason !== 'no-route' || spare?.family !== family) return finding;
  return ask({ family, host: formatAddress(spare), port: targets[0]?.port ?? 0 });
}

/** Tries all targets, and returns the first finding that passes, otherwise the most informative failure. */
export async function askAll(targets: Target[], ask: Ask): Promise<Finding> {
  const some = Promise.any(
    targets.map(async (target) => {
      const finding = await ask(target);
      return finding.passed ? finding : Promise.reject(finding);
    }),
  );
  return some.catch(({ errors }: { errors: Failed[] }) => mostTelling(errors));
}

/**
 * Connects to a target, and passes if the other end of the connection is a port of the pod. Data from the
 * other end would not prove this, because a node may send packets back to the pod, and a relay forwards data.
 * @param reasons `missing` if nothing answers, and `elsewhere` if the connection ends elsewhere
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
  // waits, because on a busy node the tables of sockets are too long to be read ten times a second
  await sleep(limit);
  if (port !== undefined) return failed(elsewhere, seen);
  return failed(elsewhere, `a connection to ${at} that left the pod and was answered`);
}

/**
 * Returns a recheck's finding, or another failure if the proxy is the cause instead of the mesh's rules: it does not
 * listen, or it accepts no connections, so that its queue fills up and the kernel drops further connections.
 */
export function ofProxy(finding: Finding, port: number, family: Family): Finding {
  if (finding.passed) return finding;
  const listeners = listenersOn(port, family, readListeners());
  if (listeners.length === 0) return failed('no-listener', `no listener on ${port} in the pod (${family})`);
  if (listeners.every(({ waiting }) => waiting === 0)) return finding;
  return failed('starved', `connections to port ${port} that nothing accepts`);
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
