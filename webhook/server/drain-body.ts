import type { IncomingMessage } from 'node:http';
import { finished } from 'node:stream/promises';
import { unreadBody } from '../lib/limits.ts';

/**
 * Reads what is left of a request's body, and throws it away. A client that still writes when the server answers and
 * closes does not read the answer: it sees a broken connection. The wait is bounded, as a client may announce any size
 * and send slowly.
 */
export async function drainBody(request: IncomingMessage): Promise<void> {
  if (request.readableEnded || request.destroyed) return;
  const enough = new AbortController();
  const late = setTimeout(() => enough.abort(), unreadBody.time);
  let bytes = 0;
  const count = (chunk: Buffer): void => {
    bytes += chunk.length;
    if (bytes > unreadBody.bytes) enough.abort();
  };
  request.on('data', count);
  // aborted, or closed by the client: either way there is no more to wait for
  await finished(request, { signal: enough.signal, cleanup: true }).catch(() => {});
  clearTimeout(late);
  // it flows on, and Node drops what comes
  request.off('data', count);
}
