import type { Socket } from 'node:net';
import { afterPending } from './waiting.ts';

/**
 * Who answered a connection: our own listener, somebody who got the token from it over another connection, somebody who
 * sent something else, or nobody so far.
 */
export type Answer = 'own' | 'relayed' | 'other' | 'silence';

/** Options of {@link exchange}. */
export interface ExchangeOptions {
  token: Buffer;
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
export function exchange(socket: Socket, options: ExchangeOptions): Promise<Answer> {
  const { token, accepted, patience, limit } = options;
  return new Promise((resolve) => {
    const started: Buffer[] = [];
    const settle = (answer: Answer): void => {
      clearTimeout(early);
      clearTimeout(late);
      resolve(answer);
    };
    // a connection that was accepted elsewhere never becomes ours: a silent peer does not cost the time-out
    const early = setTimeout(async () => {
      await afterPending();
      if (!accepted()) settle('silence');
    }, patience);
    const late = setTimeout(() => settle('silence'), limit);
    socket.on('data', (chunk: Buffer) => {
      started.push(chunk);
      const got = Buffer.concat(started);
      if (!token.subarray(0, got.length).equals(got)) settle('other');
      else if (got.length === token.length) settle(accepted() ? 'own' : 'relayed');
    });
    socket.on('close', () => settle('silence'));
  });
}
