import { type Finding, failed, passed } from '../finding.ts';
import { close, now, sleep } from '../host/loop.ts';
import { dial, type Listener } from '../host/tcp.ts';
import { readDevices } from '../pod.ts';
import type { Address } from '../shared/addresses.ts';
import { formatTarget, type Target } from '../shared/targets.ts';
import { endedAt, readSocketsAt } from '../sockets.ts';

export interface ProbeOptions {
  /** Whether our own listener accepted a connection from this address and port. */
  accepted: Listener['accepted'];
  limit: number;
  /** The address to connect from, if it matters. */
  from: string | undefined;
}

/** How long, in milliseconds, our listener may take to get a connection that is there: the kernel queues it at once. */
const patience = 50;

/**
 * Connects once, and returns whether the connection was redirected to our listener. What the other end sends would be
 * no proof, because a node may send the pod's packets back, and a relay forwards them.
 */
export async function probe(target: Target, { accepted, limit, from }: ProbeOptions): Promise<Finding> {
  const at = formatTarget(target);
  const dialled = await dial({ host: target.host, port: target.port, limit, from });
  if (dialled.as === 'silent') return failed('not-redirected', `no answer from ${at}`);
  if (dialled.as === 'no-route') return failed('no-route', `no route to ${at} (${dialled.code})`);
  if (dialled.as === 'refused') return failed('not-redirected', `${at} refused (${dialled.code})`);
  const { socket, source, port } = dialled;
  try {
    const isOurs = (): boolean => accepted(source, port) || accepted(ownAddresses(), port);
    for (const end = now() + patience; now() < end; await sleep(1)) {
      // handles what has happened already, such as our listener's connection
      await sleep(0);
      if (isOurs()) return passed(`a connection to ${at} come back`);
    }
    const end = endedAt([...source, ...ownAddresses()], port, readSocketsAt(port));
    const where = end === undefined ? 'left the pod' : `ended at port ${end} of this pod`;
    return failed('answered-by-someone-else', `a connection to ${at} that ${where}`);
  } finally {
    close(socket);
  }
}

/**
 * The addresses of the pod, including those of `lo`: a MASQUERADE rule may make any of them the source of a connection.
 * A connection from outside cannot have one of them as its source, because the answer would stay on `lo`.
 */
export const ownAddresses = (): Address[] => readDevices().flatMap(({ addresses }) => addresses);

export const isOwn = (address: Address | undefined): boolean =>
  ownAddresses().some(({ hex }) => hex === address?.hex);
