import type { FastifyInstance } from 'fastify';
import { CniGateError, errnoOf, messageOf } from '../lib/errors.ts';

/**
 * Opens a port, and returns its number. Without a host, it opens on all addresses, including IPv6 if possible.
 * @param flag the command-line flag that sets the port, for the error message
 * @throws CniGateError CNI_GATE_LISTEN
 */
export async function listen(
  app: Pick<FastifyInstance, 'listen' | 'addresses'>,
  host: string | undefined,
  port: number,
  flag: string,
): Promise<number> {
  try {
    await app.listen({ host: host ?? '::', port });
  } catch (error) {
    const errno = errnoOf(error) ?? '';
    if (host === undefined && (errno === 'EAFNOSUPPORT' || errno === 'EADDRNOTAVAIL'))
      return listen(app, '0.0.0.0', port, flag);
    throw new CniGateError(
      'CNI_GATE_LISTEN',
      `cannot listen on ${host ?? 'any address'} port ${port} (${flag}): ${messageOf(error)}`,
      { cause: error },
    );
  }
  const [address] = app.addresses();
  return typeof address === 'object' ? address.port : port;
}
