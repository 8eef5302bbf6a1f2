import type { Server } from 'node:https';
import type { FastifyInstance } from 'fastify';
import type { ServerDeps } from './deps.ts';

/** The admission server: the Fastify instance of the HTTPS port. Its plugins also keep everything else that runs. */
export type App = FastifyInstance<Server>;

/**
 * Makes a Fastify plugin that works on the instance itself, so that plugins registered later see what it decorates.
 *
 * @param start starts the part. It adds an `onClose` hook as soon as there is something to end: Fastify runs these
 *   hooks when the server stops and when a later plugin fails, in the reverse order of registration
 */
export function plugin<Options>(
  name: string,
  start: (app: App, options: Options & { deps: ServerDeps }) => Promise<void>,
) {
  return Object.assign(start, {
    // source: https://fastify.dev/docs/latest/Reference/Plugins/, and the package fastify-plugin
    [Symbol.for('skip-override')]: true,
    [Symbol.for('fastify.display-name')]: name,
  });
}
