import { type Finding, failed, passed } from '../finding.ts';
import { after } from '../host/loop.ts';
import { type Connection, dial, type Listener } from '../host/tcp.ts';
import { readDevices } from '../pod.ts';
import type { Address } from '../shared/addresses.ts';
import { formatTarget, type Target } from '../shared/targets.ts';
import { endedAt, liveOrClosed, readSocketsAt } from '../sockets.ts';

export interface ProbeOptions {
  token: Uint8Array;
  /** Whether our own listener accepted a connection from this address and port. */
  accepted: Listener['accepted'];
  limit: number;
  /** The source address; undefined if the kernel should choose it. */
  from: string | undefined;
}

/** How long to wait for an answer on a connection, in milliseconds. */
const patience = 500;

/** Who answered: our listener, a relay with the token of our listener, a different program, or nobody yet. */
export type Answer = 'own' | 'relayed' | 'other' | 'silence';

/** Connects once, and returns whether the connection was redirected to our listener. */
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
    const answer = await answerOn(dialled.socket, token, isOurs);
    if (answer === 'own') return passed(`its own token come back from ${at}`);
    const end = endedAt([...source, ...ownAddresses()], port, readSocketsAt(port), liveOrClosed);
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
 * The addresses of the pod, including those of `lo`: a MASQUERADE rule may make any of them the source of a connection.
 * A connection from outside cannot have one of them as its source, because the answer would stay on `lo`.
 */
export const ownAddresses = (): Address[] => readDevices().flatMap(({ addresses }) => addresses);

export const isOwn = (address: Address | undefined): boolean =>
  ownAddresses().some(({ hex }) => hex === address?.hex);

/** Waits for our token on a connection. The token alone proves nothing: a node may send the pod's packets back. */
export function answerOn(
  socket: Pick<Connection, 'receive'>,
  token: Uint8Array,
  accepted: () => boolean,
): Promise<Answer> {
  return new Promise((resolve) => {
    let got = 0;
    const settle = (answer: Answer): void => {
      forget();
      resolve(answer);
    };
    const forget = after(patience, () => settle('silence'));
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
