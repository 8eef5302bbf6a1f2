import type { FastifyInstance } from 'fastify';
import { CniGateError, messageOf } from '../lib/errors.ts';

/**
 * Opens a port, and returns its number. If no host is given, listens on all addresses, with IPv6 if possible.
 * @throws CniGateError CNI_GATE_LISTEN
 */
export async function listen(
  app: Pick<FastifyInstance, 'listen' | 'addresses'>,
  host: string | undefined,
  port: number,
): Promise<number> {
  try {
    // with an empty host, Node listens on all addresses; without a host, Fastify listens only on localhost
    await app.listen({ host: host ?? '', port });
  } catch (error) {
    throw new CniGateError('CNI_GATE_LISTEN', `cannot open a port: ${messageOf(error)}`, { cause: error });
  }
  const [address] = app.addresses();
  return typeof address === 'object' ? address.port : port;
}
