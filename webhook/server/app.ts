import fastify, { type FastifyBaseLogger, LogController } from 'fastify';
import { serverLimits } from '../lib/limits.ts';
import type { App } from './plugin.ts';

/**
 * The instance of the HTTPS port, without plugins: HTTP/1.1 with the time limits of the server. It has no certificate
 * until the plugin `secure-context` sets one.
 *
 * @param requestCert whether callers are asked for a certificate. A caller without one gets an answer that says so,
 *   instead of a failed handshake
 */
export function createApp(log: FastifyBaseLogger, requestCert: boolean): App {
  return fastify({
    https: {
      handshakeTimeout: serverLimits.handshakeTimeout,
      headersTimeout: serverLimits.headersTimeout,
      requestTimeout: serverLimits.requestTimeout,
      connectionsCheckingInterval: serverLimits.timeoutCheck,
      ...(requestCert && { requestCert: true, rejectUnauthorized: false }),
    },
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: 'requestId' }),
    keepAliveTimeout: serverLimits.keepAliveTimeout,
    requestTimeout: serverLimits.requestTimeout,
    // while the server closes, a request on an open connection is still answered
    return503OnClosing: false,
    // a plugin may wait for the certificate as long as it takes
    pluginTimeout: 0,
  });
}
