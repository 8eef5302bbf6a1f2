import { type Finding, failed, passed } from '../finding.ts';
import { now } from '../host/loop.ts';
import { dial } from '../host/tcp.ts';
import type { Pod } from '../pod.ts';
import { type Family, formatAddress } from '../shared/addresses.ts';
import type { CapturedCheck } from '../shared/contract.ts';
import { formatTarget, type Target } from '../shared/targets.ts';
import type { Attempt } from '../simultaneous.ts';
import { endedAt, readSockets, type TcpSocket, tcpState } from '../sockets.ts';
import { askOutside } from '../spare-targets.ts';
import { ownAddresses } from './probe.ts';

const attempt = 500;

/** Checks Istio's ambient mode, where ztunnel listens in the pod's network namespace, without binding its ports. */
export function attemptCaptured(check: CapturedCheck, family: Family, pod: Pod): Attempt {
  return async (deadline) => {
    const missing = withoutListener(check.listeners, family, readSockets());
    if (missing.length > 0)
      return failed('no-listener', `no listener on ${missing.join(', ')} in the pod (${family})`);
    const limit = Math.min(attempt, Math.max(deadline - now(), 1));
    return askOutside(check.connect, family, pod.apiServer, (target) =>
      connectTo(target, check.outbound, limit),
    );
  };
}

async function connectTo(target: Target, outbound: number, limit: number): Promise<Finding> {
  const at = formatTarget(target);
  const dialled = await dial({ host: target.host, port: target.port, limit });
  if (dialled.as === 'no-route') return failed('no-route', `no route to ${at} (${dialled.code})`);
  if (dialled.as === 'refused') return failed('not-captured', `${at} refused (${dialled.code})`);
  if (dialled.as === 'silent') return failed('not-captured', `no answer from ${at}`);
  const { source, port: from } = dialled.socket;
  // reads the sockets immediately, because the other end may close the connection
  const sockets = readSockets();
  const port = endedAt(source, from, sockets) ?? endedAt(ownAddresses(), from, sockets);
  dialled.socket.close();
  const seen = `a connection to ${at} end at port ${port} in the pod`;
  if (port === outbound) return passed(seen);
  if (port !== undefined) return failed('not-captured', seen);
  return failed('not-captured', `a connection to ${at} that left the pod and was answered`);
}

/** Returns the ports on which nothing listens for connections of this family. */
export function withoutListener(ports: number[], family: Family, sockets: TcpSocket[]): number[] {
  // a listener on `::` serves IPv4 too (ipv6(7), `IPV6_V6ONLY` is off by default)
  const listening = sockets.filter(
    ({ state, local }) =>
      state === tcpState.listen &&
      (local.family === family || (family === 'IPv4' && formatAddress(local) === '::')),
  );
  return ports.filter((port) => !listening.some(({ localPort }) => localPort === port));
}
