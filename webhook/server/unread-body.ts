import type { IncomingMessage } from 'node:http';
import { unreadBody } from '../lib/limits.ts';

/**
 * Waits until a request has come whole, and throws away what is left of its body. A client that still writes when the
 * server answers and closes does not read the answer: it sees a broken connection. The wait is bounded, as a client may
 * announce any size and send slowly.
 */
export async function unreadBodyGone(request: IncomingMessage): Promise<void> {
  if (request.readableEnded || request.destroyed) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const late = setTimeout(resolve, unreadBody.time);
  let bytes = 0;
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > unreadBody.bytes) resolve();
  };
  request.on('data', count).on('end', resolve).on('close', resolve).on('error', resolve);
  await promise;
  clearTimeout(late);
  // it flows on, and Node drops what comes
  request.off('data', count).off('end', resolve).off('close', resolve).off('error', resolve);
}
