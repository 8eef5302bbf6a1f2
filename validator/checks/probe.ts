import { type Finding, failed, passed } from '../finding.ts';
import { after, sleep } from '../host/loop.ts';
import { type Connection, dial, type Listener } from '../host/tcp.ts';
import { readDevices } from '../pod.ts';
import type { Address } from '../shared/addresses.ts';
import { formatTarget, type Target } from '../shared/targets.ts';
import { endedAt, liveOrClosed, readSockets } from '../sockets.ts';

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

/**
 * Who answered a connection: our own listener, something that got the token from it over another connection, something that
 * sent other data, or nothing so far.
 */
export type Answer = 'own' | 'relayed' | 'other' | 'silence';

/** Connects once, and returns whether the connection came back to us. */
export async function probe(target: Target, options: ProbeOptions): Promise<Finding> {
  const { token, accepted, limit, from } = options;
  const at = formatTarget(target);
  const dialled = await dial({ host: target.host, port: target.port, limit, from });
  if (dialled.as === 'silent') return failed('not-redirected', `no answer from ${at}`);
  if (dialled.as === 'no-route') return failed('no-route', `no route to ${at} (${dialled.code})`);
  if (dialled.as === 'refused') return failed('not-redirected', `${at} refused (${dialled.code})`);
  const { source, port } = dialled.socket;
  try {
    const isOurs = (): boolean => accepted(source, port) || accepted(ownAddresses(), port);
    const answer = await answerOn(dialled.socket, token, isOurs, Math.max(limit, 2 * patience));
    if (answer === 'own') return passed(`its own token come back from ${at}`);
    const end = endedAt([...source, ...ownAddresses()], port, readSockets(), liveOrClosed);
    const where = end === undefined ? 'left the pod' : `ended at port ${end} of this pod`;
    return failed(
      'answered-by-someone-else',
      `a connection to ${at} that ${where}, whose other end ${said[answer]}`,
    );
  } finally {
    dialled.socket.close();
  }
}

const said: Record<Exclude<Answer, 'own'>, string> = {
  relayed: 'relayed the token, which it received over another connection',
  other: 'sent something else',
  silence: 'said nothing',
};

/**
 * The addresses of the pod, including those of `lo`. A MASQUERADE rule in the pod replaces a socket's source address by
 * one of them, and keeps the port unless it is taken (iptables-extensions(8)). No connection from outside can have one
 * of them as source: its answer would stay on `lo`.
 */
export const ownAddresses = (): Address[] => readDevices().flatMap(({ addresses }) => addresses);

/** Whether an interface of the pod has an address. */
export const isOwn = (address: Address | undefined): boolean =>
  ownAddresses().some(({ hex }) => hex === address?.hex);

/**
 * Waits on a connection for our token. The token alone proves nothing: a node may send the pod's packets back to it.
 *
 * @param accepted whether our own listener accepted this connection
 * @param limit milliseconds after which an accepted connection counts as unanswered
 */
export function answerOn(
  socket: Pick<Connection, 'receive'>,
  token: Uint8Array,
  accepted: () => boolean,
  limit: number,
): Promise<Answer> {
  return new Promise((resolve) => {
    let got = 0;
    const settle = (answer: Answer): void => {
      forgetEarly();
      forgetLate();
      resolve(answer);
    };
    // a connection that was accepted elsewhere never becomes ours: a silent peer does not cost the time-out. Pending I/O
    // is handled first, so that a timer of a starved process decides nothing
    const forgetEarly = after(patience, async () => {
      await sleep(0);
      await sleep(0);
      if (!accepted()) settle('silence');
    });
    const forgetLate = after(limit, () => settle('silence'));
    socket.receive((bytes) => {
      if (bytes === undefined) return settle('silence');
      const wanted = token.subarray(got, got + bytes.length);
      got += bytes.length;
      if (wanted.length < bytes.length || bytes.some((byte, index) => byte !== wanted[index]))
        settle('other');
      else if (got === token.length) settle(accepted() ? 'own' : 'relayed');
    });
  });
}
