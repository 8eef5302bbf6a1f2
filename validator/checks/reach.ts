import { failed, passed } from '../finding.ts';
import { close, now } from '../host/loop.ts';
import { addressesOf, dial } from '../host/tcp.ts';
import type { ReachCheck } from '../shared/contract.ts';
import type { Attempt } from '../simultaneous.ts';

/** The time of an attempt, in milliseconds: the first packet is sent again twice (RFC 6298: after 1 s and 3 s). */
const attempt = 4000;

/** Connects over TCP to a port on each address of a host (name or address). At least one must be reached. */
export function attemptReach({ host, port }: ReachCheck): Attempt {
  const at = `${host} port ${port}`;
  return async (deadline) => {
    const limit = Math.min(attempt, Math.max(deadline - now(), 1));
    const addresses = await addressesOf(host, limit);
    if (!Array.isArray(addresses)) return failed('name-unknown', `${addresses} for the name ${host}`);
    const ends = await Promise.all(addresses.map((address) => dial({ host: address, port, limit })));
    const connected = ends.filter((end) => end.as === 'connected');
    for (const { socket } of connected) close(socket);
    if (connected.length > 0) return passed('a connection');
    const refused = ends.flatMap((end) => ('code' in end ? end.code : []))[0];
    if (refused === undefined) return failed('connect-timed-out', `no answer from ${at}`);
    const isAnswer = refused === 'ECONNREFUSED' || refused === 'ECONNRESET';
    return failed(isAnswer ? 'connect-refused' : 'unreachable', `${refused} for ${at}`);
  };
}
