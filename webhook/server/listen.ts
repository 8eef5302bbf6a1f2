import type { FastifyInstance } from 'fastify';
import { CniGateError, messageOf } from '../lib/errors.ts';

/**
 * Opens a port, and returns its number. Without a host, it opens on all addresses, including IPv6 if possible.
 * @throws CniGateError CNI_GATE_LISTEN
 */
export async function listen(
  app: Pick<FastifyInstance, 'listen' | 'addresses'>,
  host: string | undefined,
  port: number,
): Promise<number> {
  try {
    // Node opens all addresses for an empty host; without a host, Fastify would open only localhost
    await app.listen({ host: host ?? '', port });
  } catch (error) {
    throw new CniGateError('CNI_GATE_LISTEN', `cannot open a port: ${messageOf(error)}`, { cause: error });
  }
  const [address] = app.addresses();
  return typeof address === 'object' ? address.port : port;
}
