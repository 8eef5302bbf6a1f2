import { type Address, type Family, formatAddress, parseAddress } from '../addresses.ts';
import type { CapturedCheck } from '../contract.ts';
import { dial } from '../dial.ts';
import { type Finding, failed, held } from '../finding.ts';
import type { Pod } from '../pod.ts';
import { parseTcp, type TcpSocket, tcpState } from '../proc/tcp.ts';
import { byteOrder } from '../proc/words.ts';
import { readIPv6Table, readTable } from '../read-text.ts';
import { readSpareTargets } from '../spare-targets.ts';
import { formatTarget, type Target, targetsOf } from '../targets.ts';
import { now, untilHeld } from '../waiting.ts';

const attempt = 500;

/**
 * In Istio's ambient mode ztunnel listens inside the pod's network namespace, so its ports are never bound here: the
 * sockets are looked up, and a connection to the outside has to end at the one for outbound traffic: at another ztunnel
 * would take it for inbound.
 */
export function proveCaptured(check: CapturedCheck, family: Family, pod: Pod, end: number): Promise<Finding> {
  return untilHeld(end, async () => {
    const missing = withoutListener(check.listeners, family, readSockets());
    if (missing.length > 0)
      return failed('no-listener', `nobody listening on ${missing.join(', ')} in the pod (${family})`);
    const limit = Math.min(attempt, Math.max(end - now(), 1));
    const targets = targetsOf(check.connect, family);
    const finding = await connectToOne(targets, check.outbound, limit);
    if (finding.held || finding.reason !== 'no-route') return finding;
    const spares = readSpareTargets(targets, pod.apiServer);
    return spares.length === 0 ? finding : connectToOne(spares, check.outbound, limit);
  });
}

async function connectToOne(targets: Target[], outbound: number, limit: number): Promise<Finding> {
  let found: Finding = failed('no-route', 'no address to connect to');
  for (const target of targets) {
    found = await connectTo(target, outbound, limit);
    if (found.held) return found;
  }
  return found;
}

async function connectTo(target: Target, outbound: number, limit: number): Promise<Finding> {
  const at = formatTarget(target);
  const dialled = await dial({ host: target.host, port: target.port, limit });
  if (dialled.as === 'no-route') return failed('no-route', `no route to ${at} (${dialled.code})`);
  if (dialled.as === 'refused') return failed('not-captured', `${at} refused (${dialled.code})`);
  if (dialled.as === 'silent') return failed('not-captured', `no answer from ${at}`);
  const { socket } = dialled;
  const { localAddress = '', localPort = 0 } = socket;
  // at once: the other end may close it again
  const port = endedAt(parseAddress(localAddress), localPort, readSockets());
  socket.destroy();
  const seen = `a connection to ${at} end at port ${port} in the pod`;
  if (port === outbound) return held(seen);
  if (port !== undefined) return failed('not-captured', seen);
  return failed('not-captured', `a connection to ${at} that left the pod and was answered`);
}

/** Those of the ports on which nobody listens for connections of that family. */
export function withoutListener(ports: number[], family: Family, sockets: TcpSocket[]): number[] {
  return ports.filter((port) => !sockets.some((it) => it.localPort === port && listensFor(family, it)));
}

/** A listener on `::` serves IPv4 too (ipv6(7), `IPV6_V6ONLY` is off by default). */
function listensFor(family: Family, { state, local }: TcpSocket): boolean {
  if (state !== tcpState.listen) return false;
  return local.family === family || (family === 'IPv4' && formatAddress(local) === '::');
}

/**
 * What the other end of a connection may be while ours is open. TIME_WAIT and CLOSE_WAIT are left over from a
 * connection that had the same port before: of the first nobody knows whose it was, the second is a program's that
 * never closes.
 */
const live = new Set<number>([
  tcpState.established,
  tcpState.synReceived,
  tcpState.finWait1,
  tcpState.finWait2,
]);

/** The port of the socket in this network namespace that is the other end of the connection, if one is. */
export function endedAt(
  from: Address | undefined,
  fromPort: number,
  sockets: TcpSocket[],
): number | undefined {
  return sockets.find((it) => live.has(it.state) && it.remotePort === fromPort && it.remote.hex === from?.hex)
    ?.localPort;
}

function readSockets(): TcpSocket[] {
  const texts = [readTable('/proc/net/tcp'), readIPv6Table('/proc/net/tcp6')];
  return texts.flatMap((text) => parseTcp(text, byteOrder()));
}
