import type { LookupFunction, Socket } from 'node:net';
import { net } from './builtins.ts';

/** Options of {@link dial}. */
export interface DialOptions {
  host: string;
  port: number;
  localAddress?: string;
  /** How to look up a name, if the caller needs a special way. */
  lookup?: LookupFunction;
  /** Milliseconds after which the connect counts as unanswered. */
  limit: number;
}

/** How a TCP connect ended. */
export type Dialled =
  | { as: 'connected'; socket: Socket }
  /** This machine's own routes refused it: no packet was sent. */
  | { as: 'no-route'; code: string }
  | { as: 'refused'; code: string }
  /** `resolved` is false if the name has no address yet. */
  | { as: 'silent'; resolved: boolean };

/** Connects by TCP, and says how that ended. It never throws. The caller closes a socket that is connected. */
export function dial({ limit, ...options }: DialOptions): Promise<Dialled> {
  return new Promise((resolve) => {
    const socket = net().connect(options);
    const timer = setTimeout(() => {
      socket.destroy();
      resolve({ as: 'silent', resolved });
    }, limit);
    let resolved = false;
    socket.on('connectionAttempt', () => {
      resolved = true;
    });
    // the kernel's routing fails a connect at once, before Node counts it as an attempt
    let tried = false;
    socket.on('connectionAttemptFailed', () => {
      tried = true;
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      const code = error.code ?? error.message;
      resolve({ as: tried || error.syscall !== 'connect' ? 'refused' : 'no-route', code });
    });
    socket.once('connect', () => {
      clearTimeout(timer);
      resolve({ as: 'connected', socket });
    });
  });
}
