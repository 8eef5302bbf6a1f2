import { type Answer, exchange } from '../exchange.ts';
import { type Finding, failed, passed } from '../finding.ts';
import type { Listener } from '../listener.ts';
import { platform } from '../platform.ts';
import { formatTarget, type Target } from '../shared/targets.ts';
import { endedAt, liveOrClosed, ownAddresses, readSockets, sourceOf } from '../sockets.ts';

/** Options of {@link probe}. */
export interface ProbeOptions {
  token: Uint8Array;
  /** Whether our own listener accepted a connection from this address and port. */
  accepted: Listener['accepted'];
  limit: number;
  /** The address to connect from, if it matters. */
  from: string | undefined;
}

/**
 * How long our listener, which is in this process, may take to see a connection that the kernel accepted, in
 * milliseconds.
 */
const patience = 250;

/** Connects once, and returns whether the connection came back to us. */
export async function probe(target: Target, options: ProbeOptions): Promise<Finding> {
  const { token, accepted, limit, from } = options;
  const { host, port } = target;
  const at = formatTarget(target);
  const dialled = await platform.dial({
    host,
    port,
    limit,
    ...(from !== undefined && { localAddress: from }),
  });
  if (dialled.as === 'silent') return failed('not-redirected', `no answer from ${at}`);
  if (dialled.as === 'no-route') return failed('no-route', `no route to ${at} (${dialled.code})`);
  if (dialled.as === 'refused') return failed('not-redirected', `${at} refused (${dialled.code})`);
  const { socket } = dialled;
  const { localPort = 0 } = socket;
  const source = sourceOf(socket);
  try {
    const answer = await exchange(socket, {
      token,
      accepted: () => accepted(source, localPort) || accepted(ownAddresses(), localPort),
      patience,
      limit: Math.max(limit, 2 * patience),
    });
    if (answer === 'own') return passed(`its own token come back from ${at}`);
    const port = endedAt([...source, ...ownAddresses()], localPort, readSockets(), liveOrClosed);
    const where = port === undefined ? 'left the pod' : `ended at port ${port} of this pod`;
    return failed(
      'answered-by-someone-else',
      `a connection to ${at} that ${where}, whose other end ${said[answer]}`,
    );
  } finally {
    socket.destroy();
  }
}

const said: Record<Exclude<Answer, 'own'>, string> = {
  relayed: 'relayed the token, which it received over another connection',
  other: 'sent something else',
  silence: 'said nothing',
};
