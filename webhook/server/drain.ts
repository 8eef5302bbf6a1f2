import { Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { App, ServerDeps } from './deps.ts';

export interface DrainOptions {
  /** Milliseconds from "not ready" until the port closes, so that the API server can stop using the endpoint. */
  drainDelay: number;
  /** Milliseconds from the start of the drain until the remaining connections are destroyed. */
  drainTimeout: number;
}

/**
 * When the instance closes, `/readyz` fails, and after a delay the port closes. Each connection ends after its next
 * answer, when its client closes it, or at the timeout. Call this function first, so that its `onClose` hook runs last.
 */
export function drainOnClose(app: App, options: DrainOptions, { log, ready }: ServerDeps): void {
  let cut: NodeJS.Timeout | undefined;
  ready.push(() => (cut === undefined ? undefined : 'shutting down'));
  // from now on, Fastify sends `Connection: close` with each answer
  app.addHook('preClose', async () => {
    // a server that never opened its port has no requests to wait for
    if (!app.server.listening) return;
    log.info({ delay: options.drainDelay }, 'draining');
    cut = setTimeout(() => app.server.closeAllConnections(), options.drainTimeout);
    await sleep(options.drainDelay);
    await closePort(app.server);
  });
  app.addHook('onClose', async () => {
    if (cut === undefined) return;
    clearTimeout(cut);
    log.info('drained');
  });
}

/**
 * Closes the port, and waits until all connections have ended. The `close()` of an HTTP server would also close idle
 * connections, and Go does not repeat a POST that it has partly written (`shouldRetryRequest` in `net/http`).
 */
function closePort(server: Server): Promise<void> {
  return new Promise((resolve) => Server.prototype.close.call(server, () => resolve()));
}
