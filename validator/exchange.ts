import { type Connection, platform } from './platform.ts';

/**
 * Who answered a connection: our own listener, something that got the token from it over another connection, something that
 * sent other data, or nothing so far.
 */
export type Answer = 'own' | 'relayed' | 'other' | 'silence';

/** Options of {@link exchange}. */
export interface ExchangeOptions {
  token: Uint8Array;
  /** Whether our own listener accepted this connection. */
  accepted: () => boolean;
  /** Milliseconds after which a connection that our listener did not accept is not ours. */
  patience: number;
  /** Milliseconds after which an accepted connection counts as unanswered. */
  limit: number;
}

/**
 * Waits on a connection for our token. The token alone proves nothing: a node may send the pod's packets back to it.
 * The socket stays open.
 */
export function exchange(socket: Connection, options: ExchangeOptions): Promise<Answer> {
  const { token, accepted, patience, limit } = options;
  return new Promise((resolve) => {
    let got = 0;
    const settle = (answer: Answer): void => {
      forgetEarly();
      forgetLate();
      resolve(answer);
    };
    // a connection that was accepted elsewhere never becomes ours: a silent peer does not cost the time-out. Pending I/O
    // is handled first, so that a timer of a starved process decides nothing
    const forgetEarly = platform.after(patience, async () => {
      await platform.afterPending();
      if (!accepted()) settle('silence');
    });
    const forgetLate = platform.after(limit, () => settle('silence'));
    socket.on('data', (bytes) => {
      const wanted = token.subarray(got, got + bytes.length);
      got += bytes.length;
      if (wanted.length < bytes.length || bytes.some((byte, index) => byte !== wanted[index]))
        settle('other');
      else if (got === token.length) settle(accepted() ? 'own' : 'relayed');
    });
    socket.on('close', () => settle('silence'));
  });
}
